// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/daemon/local';
import { Users } from 'lucide-react';
import { useEffect, useState } from 'react';
import { EmptyState } from '../../components/feedback/empty-state.tsx';
import { RowList } from '../../components/layout/row-list.tsx';
import { Section } from '../../components/layout/section.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { useTexts } from '../../texts/texts.ts';
import { inOrder } from './contact-order.ts';
import type { ContactPrompt } from './contact-prompt.ts';
import { ContactRow } from './contact-row.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { VerifyDialog } from './verify-dialog.tsx';

const MINUTE_MS = 60_000;

/** The contacts. At most one is expanded. */
export function Contacts({ ownWords }: { ownWords: string | undefined }) {
  const { t, language } = useTexts();
  const contacts = useDaemon((state) => state.contacts);
  const live = useDaemon(({ link }) => link.state !== 'connecting');
  const [opened, setOpened] = useState<string>();
  const [asked, setAsked] = useState<{ prompt: ContactPrompt; fingerprint: string }>();
  const now = useNow();
  // A name may change while a dialog is open; the fingerprint does not.
  const about = contacts.find(({ fingerprint }) => fingerprint === asked?.fingerprint);
  if (!live) return null;
  if (contacts.length === 0) {
    return (
      <EmptyState icon={Users} title={t('people.emptyTitle')}>
        <p>{t('people.emptyText')}</p>
      </EmptyState>
    );
  }
  const close = () => setAsked(undefined);
  return (
    <Section title={t('people.contacts')}>
      <RowList label={t('people.contacts')}>
        {inOrder(contacts, language).map((contact) => (
          <ContactRow
            key={contact.fingerprint}
            contact={contact}
            now={now}
            open={opened === contact.fingerprint}
            onToggle={() => setOpened(opened === contact.fingerprint ? undefined : contact.fingerprint)}
            onAsk={(prompt) => setAsked({ prompt, fingerprint: contact.fingerprint })}
          />
        ))}
      </RowList>
      {asked && about && <PromptAbout prompt={asked.prompt} contact={about} ownWords={ownWords} onClose={close} />}
    </Section>
  );
}

interface PromptProps {
  prompt: ContactPrompt;
  contact: ContactView;
  ownWords: string | undefined;
  onClose(): void;
}

function PromptAbout({ prompt, contact, ownWords, onClose }: PromptProps) {
  if (prompt === 'verify') return <VerifyDialog contact={contact} ownWords={ownWords} onClose={onClose} />;
  if (prompt === 'rename') return <RenameDialog contact={contact} onClose={onClose} />;
  return <RemoveDialog contact={contact} onClose={onClose} />;
}

/** The current time, updated every minute for relative times. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

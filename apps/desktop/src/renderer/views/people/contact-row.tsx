// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/daemon/local';
import { BadgeCheck, ChevronDown, ChevronUp, Send } from 'lucide-react';
import { useId } from 'react';
import { Avatar } from '../../components/content/avatar.tsx';
import { harmless, PeerText } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { Row } from '../../components/layout/row-list.tsx';
import { draftRecipients } from '../../store/draft.ts';
import { withTilde } from '../../store/home-path.ts';
import { go } from '../../store/route.ts';
import { useHome } from '../../store/use-status.ts';
import { useTexts } from '../../texts/texts.ts';
import { agoText } from '../../texts/times.ts';
import { ContactDetails } from './contact-details.tsx';
import type { ContactPrompt } from './contact-prompt.ts';
import styles from './people.module.css';

export interface ContactRowProps {
  contact: ContactView;
  /** Milliseconds since 1970. */
  now: number;
  open: boolean;
  onToggle(): void;
  onAsk(prompt: ContactPrompt): void;
}

/** A contact: presence, rule for what it sends, and a button to send. Accepts dropped files. */
export function ContactRow({ contact, now, open, onToggle, onAsk }: ContactRowProps) {
  const { t } = useTexts();
  const id = useId();
  const name = harmless(contact.name);
  const send = () => {
    draftRecipients([contact.name]);
    go('send');
  };
  return (
    <Row
      {...(!contact.blocked && { 'data-drop-to': contact.name })}
      mark={<Avatar name={contact.name} online={contact.online} />}
      name={<ContactName contact={contact} />}
      about={<ContactState contact={contact} now={now} />}
      actions={
        <>
          {!contact.blocked && (
            <Button className={styles.compact} icon={Send} onClick={send} aria-label={t('people.sendTo', { name })}>
              {t('people.send')}
            </Button>
          )}
          <Button
            look="quiet"
            icon={open ? ChevronUp : ChevronDown}
            iconOnly
            aria-expanded={open}
            aria-controls={id}
            onClick={onToggle}
          >
            {t(open ? 'people.less' : 'people.more', { name })}
          </Button>
        </>
      }
    >
      <div id={id} hidden={!open}>
        {open && <ContactDetails contact={contact} onAsk={onAsk} />}
      </div>
    </Row>
  );
}

function ContactName({ contact }: { contact: ContactView }) {
  const { t } = useTexts();
  return (
    <>
      <PeerText text={contact.name} />
      {contact.verified && (
        <span className={styles.verified} title={t('people.verified')}>
          <BadgeCheck size={16} aria-hidden="true" />
          <span className="spoken">{t('people.verified')}</span>
        </span>
      )}
    </>
  );
}

function ContactState({ contact, now }: { contact: ContactView; now: number }) {
  const { t, language } = useTexts();
  const home = useHome();
  const { blocked, online, lastSeen, rule, folder, renewed } = contact;
  if (blocked) return <span className={styles.blocked}>{t('people.blocked')}</span>;
  return (
    <>
      {renewed !== undefined && <span className={styles.renewed}>{t('people.renewed')}</span>}
      {online && <span className={styles.online}>{t('people.online')}</span>}
      {!online && lastSeen !== undefined && (
        <span>{t('people.lastSeen', { when: agoText(lastSeen, now, language) })}</span>
      )}
      {!online && lastSeen === undefined && <span>{t('people.neverSeen')}</span>}
      {rule === 'accept' && <span>{t('people.acceptsInto', { folder: harmless(withTilde(folder ?? '', home)) })}</span>}
      {rule === 'never' && <span>{t('people.refused')}</span>}
    </>
  );
}

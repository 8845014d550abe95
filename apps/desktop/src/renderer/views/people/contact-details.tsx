// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/daemon/local';
import { Ban, PenLine, ShieldCheck, Trash2 } from 'lucide-react';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/controls/button.tsx';
import { CopyButton } from '../../components/controls/copy-button.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Disclosure } from '../../components/layout/disclosure.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import type { ContactPrompt } from './contact-prompt.ts';
import { ContactRule } from './contact-rule.tsx';
import styles from './people.module.css';
import { Phrase } from './phrase.tsx';

/** Details of a contact. */
export function ContactDetails({ contact, onAsk }: { contact: ContactView; onAsk(prompt: ContactPrompt): void }) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
  const { name, verified, blocked, words, fingerprint } = contact;
  const change = (changes: { verified?: boolean; blocked?: boolean }) =>
    void act((signal) => api.call('changeContact', { name, ...changes }, { signal }));
  return (
    <Stack gap={5} className={styles.details}>
      {!blocked && <ContactRule contact={contact} />}
      <div className={styles.detail}>
        <p className={styles.what}>{t('people.words')}</p>
        <Phrase words={words} />
        {verified ? (
          <Button disabled={busy} onClick={() => change({ verified: false })}>
            {t('people.unverify')}
          </Button>
        ) : (
          <Button icon={ShieldCheck} onClick={() => onAsk('verify')}>
            {t('people.verify')}
          </Button>
        )}
        <Disclosure title={t('people.fingerprint')}>
          <p className={styles.fingerprint}>{fingerprint}</p>
          <CopyButton text={fingerprint} label={t('people.copyFingerprint')} />
        </Disclosure>
      </div>
      <ErrorNotice error={error} />
      <div className={styles.buttons}>
        <Button icon={PenLine} onClick={() => onAsk('rename')}>
          {t('people.rename')}
        </Button>
        <Button icon={Ban} disabled={busy} title={t('people.blockHint')} onClick={() => change({ blocked: !blocked })}>
          {t(blocked ? 'people.unblock' : 'people.block')}
        </Button>
        <Button look="danger" icon={Trash2} onClick={() => onAsk('remove')}>
          {t('people.remove')}
        </Button>
      </div>
    </Stack>
  );
}

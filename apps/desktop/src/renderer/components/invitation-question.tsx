// SPDX-License-Identifier: MPL-2.0
import { Check, X } from 'lucide-react';
import type { Asked } from '../../shared/daemon-state.ts';
import { type TextKey, useTexts } from '../texts/texts.ts';
import { useAnswer } from './answer.ts';
import { Avatar } from './avatar.tsx';
import { Button } from './button.tsx';
import { Card } from './card.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { PeerText } from './peer-text.tsx';
import styles from './questions.module.css';

const WANTS: Readonly<Record<string, TextKey>> = {
  files: 'receive.wantsFiles',
  text: 'receive.wantsText',
};

/** A contact wants to send something; what one would share is asked about beside the folders. */
export function InvitationQuestion({ asked }: { asked: Asked }) {
  const { t } = useTexts();
  const { answer, busy, error } = useAnswer(asked.question);
  const { contact, verified, to, label } = asked.about as {
    contact: string;
    verified: boolean;
    to: string;
    label?: string;
  };
  return (
    <Card className={styles.card} aria-label={t('receive.invitation')}>
      <header className={styles.head}>
        <Avatar name={contact} online large />
        <div>
          <h2>
            <PeerText text={contact} /> {t(WANTS[to] ?? 'receive.wantsFiles')}
          </h2>
          <p>
            {t(verified ? 'transfers.verified' : 'transfers.notVerified')}
            {label !== undefined && label !== '' && (
              <>
                {' '}
                · <PeerText text={label} />
              </>
            )}
          </p>
        </div>
      </header>
      <ErrorNotice error={error} />
      <div className={styles.actions}>
        <Button look="primary" icon={Check} busy={busy} onClick={() => answer('yes')}>
          {t('receive.accept')}
        </Button>
        <Button icon={X} busy={busy} onClick={() => answer('no')}>
          {t('receive.refuse')}
        </Button>
      </div>
    </Card>
  );
}

// SPDX-License-Identifier: MPL-2.0
import type { Asked } from '../../../shared/daemon-state.ts';
import { bytesText } from '../../../shared/number-text.ts';
import { type TextKey, useTexts } from '../../texts/texts.ts';
import { Avatar } from '../content/avatar.tsx';
import { PeerText } from '../content/peer-text.tsx';
import { Card } from '../layout/card.tsx';
import { AcceptOrRefuse } from './accept-or-refuse.tsx';
import styles from './prompts.module.css';
import { useDestination } from './use-destination.tsx';

const WANTS: Readonly<Record<string, TextKey>> = {
  files: 'receive.wantsFiles',
  text: 'receive.wantsText',
};

/** The JSON of a question of kind `invitation` (proto/local.proto). */
interface Invitation {
  readonly contact: string;
  readonly verified: boolean;
  readonly to: string;
  readonly label?: string;
  readonly files?: number;
  readonly bytes?: number;
  readonly place?: string;
  readonly freeBytes?: number;
}

/** A contact wants to send something. Invitations to shared folders appear in the folders view instead. */
export function InvitationPrompt({ asked }: { asked: Asked }) {
  const { t, language } = useTexts();
  const { contact, verified, to, label, files, bytes, place, freeBytes } = asked.about as unknown as Invitation;
  const destination = useDestination({ place, freeBytes, bytes });
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
      <dl className={styles.facts}>
        {to === 'files' && files !== undefined && (
          <div>
            <dt>{t('transfers.files')}</dt>
            <dd>{t('transfers.fileCount', { count: files })}</dd>
          </div>
        )}
        <div>
          <dt>{t('transfers.size')}</dt>
          <dd>{bytes === undefined ? t('receive.sizeUnknown') : bytesText(bytes, language)}</dd>
        </div>
      </dl>
      {place !== undefined && destination.field}
      <AcceptOrRefuse question={asked.question} accepted={destination.answer} />
    </Card>
  );
}

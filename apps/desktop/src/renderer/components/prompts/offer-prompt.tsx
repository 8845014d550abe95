// SPDX-License-Identifier: MPL-2.0
import { Check, X } from 'lucide-react';
import type { Asked } from '../../../shared/daemon-state.ts';
import { bytesText } from '../../../shared/figures.ts';
import { useDaemon } from '../../store/daemon-store.ts';
import { useTexts } from '../../texts/texts.ts';
import { Avatar } from '../content/avatar.tsx';
import { PeerText } from '../content/peer-text.tsx';
import { Button } from '../controls/button.tsx';
import { ErrorNotice } from '../feedback/error-notice.tsx';
import { Card } from '../layout/card.tsx';
import { Panel } from '../layout/panel.tsx';
import { pathText } from '../transfers/transfer-words.tsx';
import styles from './prompts.module.css';
import { useAnswer } from './use-answer.ts';
import { useDestination } from './use-destination.tsx';

/** The JSON of a question of kind `offer` (proto/local.proto). */
interface Offer {
  readonly files: number;
  readonly bytes: number;
  readonly names: readonly string[];
  readonly nameCount: number;
  readonly peer: string;
  readonly path: string;
  readonly text: boolean;
  readonly stream: boolean;
  readonly place: string;
  readonly freeBytes?: number;
}

/** A peer offers files: names, size, free space. Nothing is written before the answer. */
export function OfferPrompt({ asked }: { asked: Asked }) {
  const { t } = useTexts();
  const { answer, busy, error } = useAnswer(asked.question);
  const offer = asked.about as unknown as Offer;
  const contact = useDaemon(({ transfers }) => transfers.get(asked.transfer)?.contact);
  const destination = useDestination({ ...offer, freeBytes: offer.freeBytes });
  return (
    <Card className={styles.card} aria-label={t('receive.offer')}>
      <header className={styles.head}>
        <Avatar name={contact ?? offer.peer} large />
        <div>
          <h2>
            <PeerText text={contact ?? offer.peer} /> {t(offer.text ? 'receive.offersText' : 'receive.offersFiles')}
          </h2>
          {contact === undefined && <p>{t('receive.claimed')}</p>}
        </div>
      </header>
      {!offer.text && <Names offer={offer} />}
      <Facts offer={offer} />
      {!offer.text && destination.field}
      <ErrorNotice error={error} />
      <div className={styles.actions}>
        <Button look="primary" icon={Check} busy={busy} onClick={() => answer('yes', destination.answer)}>
          {t('receive.accept')}
        </Button>
        <Button icon={X} busy={busy} onClick={() => answer('no')}>
          {t('receive.refuse')}
        </Button>
      </div>
    </Card>
  );
}

function Names({ offer: { names, nameCount } }: { offer: Offer }) {
  const { t } = useTexts();
  const more = nameCount - names.length;
  return (
    <Panel as="ul" look="inset" className={styles.names} tabIndex={0} aria-label={t('receive.names')}>
      {names.map((name) => (
        <li key={name}>
          <PeerText text={name} />
        </li>
      ))}
      {more > 0 && <li>{t('receive.moreNames', { count: more })}</li>}
    </Panel>
  );
}

function Facts({ offer }: { offer: Offer }) {
  const { t, language } = useTexts();
  const { files, bytes, stream, path, text } = offer;
  return (
    <dl className={styles.facts}>
      {!text && !stream && (
        <div>
          <dt>{t('transfers.files')}</dt>
          <dd>{t('transfers.fileCount', { count: files })}</dd>
        </div>
      )}
      {!stream && (
        <div>
          <dt>{t('transfers.size')}</dt>
          <dd>{bytesText(bytes, language)}</dd>
        </div>
      )}
      <div>
        <dt>{t('transfers.path')}</dt>
        <dd>{pathText(path, t)}</dd>
      </div>
    </dl>
  );
}

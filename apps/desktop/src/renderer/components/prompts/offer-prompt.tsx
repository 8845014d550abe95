// SPDX-License-Identifier: MPL-2.0
import type { Asked } from '../../../shared/daemon-state.ts';
import { bytesText } from '../../../shared/number-text.ts';
import { useDaemon } from '../../store/daemon-store.ts';
import { useTexts } from '../../texts/texts.ts';
import { Avatar } from '../content/avatar.tsx';
import { PeerText } from '../content/peer-text.tsx';
import { Card } from '../layout/card.tsx';
import { Panel } from '../layout/panel.tsx';
import { pathText } from '../transfers/transfer-words.tsx';
import { AcceptOrRefuse } from './accept-or-refuse.tsx';
import styles from './prompts.module.css';
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
      <AcceptOrRefuse question={asked.question} accepted={destination.answer} />
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

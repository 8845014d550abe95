// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import { ArrowDownToLine, ArrowUpFromLine, CircleAlert, CircleCheck } from 'lucide-react';
import { memo } from 'react';
import { clockText, percentText, rateText } from '../../../shared/number-text.ts';
import { secondsLeft, shareOf } from '../../../shared/transfer-progress.ts';
import { useDaemon } from '../../store/daemon-store.ts';
import { hrefOf } from '../../store/route.ts';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import { PeerText } from '../content/peer-text.tsx';
import { ErrorNotice } from '../feedback/error-notice.tsx';
import { ProgressBar } from '../feedback/progress-bar.tsx';
import { Panel } from '../layout/panel.tsx';
import { TransferActions } from './transfer-actions.tsx';
import styles from './transfer-card.module.css';
import { nameOf, stateText, TransferName } from './transfer-words.tsx';

/** One transfer; renders only when that transfer changes. */
export const TransferCard = memo(function TransferCard({ id }: { id: number }) {
  const transfer = useDaemon(({ transfers }) => transfers.get(id));
  return transfer === undefined ? null : <Shown transfer={transfer} />;
});

function Shown({ transfer }: { transfer: TransferView }) {
  const { t, language } = useTexts();
  const runner = useAction();
  const { id, state, kind } = transfer;
  const who = transfer.contact ?? transfer.peer;
  return (
    <Panel as="article" className={[styles.card, styles[state]].join(' ')} aria-label={nameOf(transfer, t)}>
      <span className={styles.mark}>
        <Mark kind={kind} state={state} />
      </span>
      <div className={styles.words}>
        <a className={styles.name} href={hrefOf('transfers', id)}>
          <TransferName transfer={transfer} />
        </a>
        <p className={styles.about}>
          {who !== undefined && who !== '' && (
            <>
              {t(kind === 'send' ? 'transfers.to' : 'transfers.from')} <PeerText text={who} /> ·{' '}
            </>
          )}
          <span className={styles.state}>{stateText(transfer, t, language)}</span>
        </p>
      </div>
      <div className={styles.actions}>
        <TransferActions transfer={transfer} runner={runner} icons />
      </div>
      {(state === 'running' || state === 'paused') && <Progress transfer={transfer} />}
      {runner.error && (
        <div className={styles.error}>
          <ErrorNotice error={runner.error} />
        </div>
      )}
    </Panel>
  );
}

function Mark({ kind, state }: Pick<TransferView, 'kind' | 'state'>) {
  const { t } = useTexts();
  const Icon =
    state === 'done'
      ? CircleCheck
      : state === 'failed'
        ? CircleAlert
        : kind === 'send'
          ? ArrowUpFromLine
          : ArrowDownToLine;
  return (
    <>
      <Icon size={20} aria-hidden="true" />
      <span className="spoken">{t(kind === 'send' ? 'transfers.aSend' : 'transfers.aReceive')}</span>
    </>
  );
}

function Progress({ transfer }: { transfer: TransferView }) {
  const { t, language } = useTexts();
  const share = shareOf(transfer);
  const left = secondsLeft(transfer);
  const running = transfer.state === 'running';
  return (
    <div className={styles.progress}>
      <ProgressBar label={nameOf(transfer, t)} share={share} still={!running} />
      <span className={styles.figures}>
        {running && <span className={styles.rate}>{rateText(transfer.bytesPerSecond, language)}</span>}
        {running && left !== undefined && ` · ${clockText(left)}`}
        {!running && share !== undefined && percentText(share, language)}
      </span>
    </div>
  );
}

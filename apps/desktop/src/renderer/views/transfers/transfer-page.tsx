// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import { ChevronLeft, SearchX } from 'lucide-react';
import { hasEnded } from '../../../shared/daemon-state.ts';
import { bytesText, clockText, percentText, rateText } from '../../../shared/number-text.ts';
import { awaitsReceivers, secondsLeft, shareOf } from '../../../shared/transfer-progress.ts';
import { ReceivedText } from '../../components/content/received-text.tsx';
import { CopyButton } from '../../components/controls/copy-button.tsx';
import { EmptyState } from '../../components/feedback/empty-state.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { ProgressBar } from '../../components/feedback/progress-bar.tsx';
import { Card } from '../../components/layout/card.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { Prompts } from '../../components/prompts/prompts.tsx';
import { CodeCard } from '../../components/transfers/code-card.tsx';
import { FileList } from '../../components/transfers/file-list.tsx';
import { ThroughputChart } from '../../components/transfers/throughput-chart.tsx';
import { TransferActions } from '../../components/transfers/transfer-actions.tsx';
import { nameOf, stateText, TransferName } from '../../components/transfers/transfer-words.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { hrefOf } from '../../store/route.ts';
import { samplesOf } from '../../store/throughput.ts';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import { TransferFacts } from './transfer-facts.tsx';
import { TransferPeers } from './transfer-peers.tsx';
import styles from './transfers.module.css';

/** Fewer samples make no useful chart of a finished transfer. */
const FEWEST_SAMPLES = 4;

/** One transfer with all its details. */
export function TransferPage({ id }: { id: number }) {
  const { t } = useTexts();
  const transfer = useDaemon(({ transfers }) => transfers.get(id));
  const live = useDaemon(({ link }) => link.state === 'live');
  return (
    <>
      <a className={styles.back} href={hrefOf('transfers')}>
        <ChevronLeft size={18} aria-hidden="true" />
        {t('transfers.all')}
      </a>
      {transfer === undefined && live && (
        <EmptyState icon={SearchX} title={t('transfers.goneTitle')}>
          <p>{t('transfers.goneText')}</p>
        </EmptyState>
      )}
      {transfer && <Shown transfer={transfer} />}
    </>
  );
}

function Shown({ transfer }: { transfer: TransferView }) {
  const { t, language } = useTexts();
  const runner = useAction();
  const { id, state, error, text } = transfer;
  const ended = hasEnded(transfer);
  return (
    <>
      <header className={styles.head}>
        <div className={styles.title}>
          <h1>
            <TransferName transfer={transfer} />
          </h1>
          {state !== 'failed' && <p role="status">{stateText(transfer, t, language)}</p>}
        </div>
        <div className={styles.actions}>
          <TransferActions transfer={transfer} runner={runner} />
        </div>
      </header>
      <ErrorNotice error={runner.error} />
      {state === 'failed' && error && <ErrorNotice error={error} title={t('transfers.failed')} />}
      <Prompts transfer={id} />
      {awaitsReceivers(transfer) && <CodeCard transfer={transfer} />}
      {text !== undefined && <ReceivedText text={text} />}
      {!transfer.isText && (transfer.bytes > 0 || state === 'running') && (
        <Progress transfer={transfer} live={!ended} />
      )}
      <TransferPeers transfer={transfer} />
      <Card>
        <TransferFacts transfer={transfer} />
      </Card>
      {!transfer.isText && (
        <Stack as="section" gap={3}>
          <h2>{t('transfers.files')}</h2>
          <FileList transfer={id} live={!ended} />
        </Stack>
      )}
      {transfer.code !== undefined && !awaitsReceivers(transfer) && (
        <p>
          <CopyButton text={transfer.code} label={t('transfers.copyCode')} />
        </p>
      )}
    </>
  );
}

function Progress({ transfer, live }: { transfer: TransferView; live: boolean }) {
  const { t, language } = useTexts();
  const share = shareOf(transfer);
  const left = secondsLeft(transfer);
  const { state, bytes, totalBytes, bytesPerSecond } = transfer;
  return (
    <Card aria-label={t('transfers.progress')}>
      <dl className={styles.figures}>
        {share !== undefined && (
          <Figure main term={t('transfers.progress')}>
            {percentText(share, language)}
          </Figure>
        )}
        {state === 'running' && <Figure term={t('transfers.speed')}>{rateText(bytesPerSecond, language)}</Figure>}
        {left !== undefined && <Figure term={t('transfers.left')}>{clockText(left)}</Figure>}
        <Figure term={t('transfers.size')}>
          {t('transfers.ofSize', { done: bytesText(bytes, language), total: bytesText(totalBytes, language) })}
        </Figure>
        {transfer.seconds >= 1 && <Figure term={t('transfers.took')}>{clockText(transfer.seconds)}</Figure>}
      </dl>
      <div className={styles.progress}>
        <ProgressBar label={nameOf(transfer, t)} share={share} still={state !== 'running' && state !== 'done'} />
      </div>
      {(live || samplesOf(transfer.id).times.length >= FEWEST_SAMPLES) && (
        <ThroughputChart transfer={transfer.id} live={live} />
      )}
    </Card>
  );
}

function Figure({ term, main, children }: { term: string; main?: boolean; children: string }) {
  return (
    <div className={[styles.figure, main && styles.main].filter(Boolean).join(' ')}>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

// SPDX-License-Identifier: MPL-2.0
import { ArrowUpFromLine, Pause, Play, RefreshCw, Trash2 } from 'lucide-react';
import { useShallow } from 'zustand/react/shallow';
import type { DaemonState } from '../../../shared/daemon-state.ts';
import { hasEnded } from '../../../shared/daemon-state.ts';
import { rateText } from '../../../shared/number-text.ts';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/controls/button.tsx';
import { EmptyState } from '../../components/feedback/empty-state.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { ViewHead } from '../../components/layout/view-head.tsx';
import { TransferCard } from '../../components/transfers/transfer-card.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { go } from '../../store/route.ts';
import { useAction } from '../../store/use-action.ts';
import { type TextKey, useTexts } from '../../texts/texts.ts';
import styles from './transfers.module.css';

type Group = 'active' | 'queued' | 'ended';
const GROUPS: readonly { group: Group; title: TextKey }[] = [
  { group: 'active', title: 'transfers.groupActive' },
  { group: 'queued', title: 'transfers.groupQueued' },
  { group: 'ended', title: 'transfers.groupEnded' },
];

/** The ids of a group; finished transfers with the newest first. */
function idsOf({ transfers }: DaemonState, group: Group): number[] {
  const ids: number[] = [];
  for (const [id, transfer] of transfers) {
    const own: Group = hasEnded(transfer) ? 'ended' : transfer.state === 'queued' ? 'queued' : 'active';
    if (own === group) ids.push(id);
  }
  return group === 'ended' ? ids.reverse() : ids;
}

export function TransferList() {
  const { t } = useTexts();
  const count = useDaemon(({ transfers }) => transfers.size);
  const live = useDaemon(({ link }) => link.state === 'live');
  return (
    <>
      <ViewHead title={t('transfers.title')}>{count > 0 && <AllActions />}</ViewHead>
      {count === 0 && live && (
        <EmptyState icon={RefreshCw} title={t('transfers.emptyTitle')}>
          <p>{t('transfers.emptyText')}</p>
          <Button look="primary" icon={ArrowUpFromLine} onClick={() => go('send')}>
            {t('transfers.emptySend')}
          </Button>
        </EmptyState>
      )}
      {GROUPS.map(({ group, title }) => (
        <GroupOf key={group} group={group} title={t(title)} />
      ))}
    </>
  );
}

function GroupOf({ group, title }: { group: Group; title: string }) {
  const ids = useDaemon(useShallow((state) => idsOf(state, group)));
  if (ids.length === 0) return null;
  return (
    <Stack as="section" gap={3}>
      <h2 className={styles.groupName}>{title}</h2>
      <Stack as="ul" gap={2}>
        {ids.map((id) => (
          <li key={id}>
            <TransferCard id={id} />
          </li>
        ))}
      </Stack>
    </Stack>
  );
}

/** Actions for all transfers. */
function AllActions() {
  const { t, language } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
  const rate = useDaemon(({ transfers }) => sumOf(transfers));
  const pausable = useDaemon(({ transfers }) => some(transfers, ({ state }) => PAUSABLE.includes(state)));
  const paused = useDaemon(({ transfers }) => some(transfers, ({ state }) => state === 'paused'));
  const ended = useDaemon(useShallow((state) => idsOf(state, 'ended')));
  const all = (action: 'pause' | 'resume') => act((signal) => api.call('control', { transfer: 0, action }, { signal }));
  const clear = () =>
    act(async (signal) => {
      for (const transfer of ended) await api.call('control', { transfer, action: 'remove' }, { signal });
    });
  return (
    <>
      {rate > 0 && <span className={styles.total}>{rateText(rate, language)}</span>}
      {paused && (
        <Button icon={Play} busy={busy} onClick={() => all('resume')}>
          {t('transfers.resumeAll')}
        </Button>
      )}
      {pausable && (
        <Button icon={Pause} busy={busy} onClick={() => all('pause')}>
          {t('transfers.pauseAll')}
        </Button>
      )}
      {ended.length > 0 && (
        <Button icon={Trash2} busy={busy} onClick={clear}>
          {t('transfers.clear')}
        </Button>
      )}
      <ErrorNotice error={error} />
    </>
  );
}

const PAUSABLE: readonly string[] = ['queued', 'waiting', 'running'];
type Transfers = DaemonState['transfers'];

function some(transfers: Transfers, is: (transfer: { state: string }) => boolean): boolean {
  for (const transfer of transfers.values()) if (is(transfer)) return true;
  return false;
}

function sumOf(transfers: Transfers): number {
  let sum = 0;
  for (const { state, bytesPerSecond } of transfers.values()) if (state === 'running') sum += bytesPerSecond;
  return sum;
}

// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import { type DaemonState, hasEnded } from '../../shared/daemon-state.ts';

const OPENED = Date.now();
const SHOWN = 6;

/** Ids of sends or receives to show: unfinished ones, and those added since the page was opened; the newest first. */
export function recentIds({ transfers }: Pick<DaemonState, 'transfers'>, kind: string, since = OPENED): number[] {
  const is = (transfer: TransferView) => transfer.kind === kind && (!hasEnded(transfer) || transfer.added >= since);
  return [...transfers.values()]
    .filter(is)
    .sort((a, b) => b.added - a.added || b.id - a.id)
    .slice(0, SHOWN)
    .map(({ id }) => id);
}

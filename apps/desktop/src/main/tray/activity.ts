// SPDX-License-Identifier: MPL-2.0
import type { ContactView, TransferView } from '@keibidrop/daemon/local';
import type { DaemonState } from '../../shared/daemon-state.ts';

/** States of a transfer that runs, or that starts without the user. */
const UNDER_WAY: readonly string[] = ['queued', 'waiting', 'running', 'asking'];
const MOST_PEOPLE = 8;

/** Summary of the daemon's state for the tray, the task bar and the question on quitting. */
export interface Activity {
  /** Transfers that run or will run: running ones first, then the newest first. */
  readonly underWay: readonly TransferView[];
  readonly paused: readonly TransferView[];
  /** Progress of all running transfers, 0 to 1; undefined: none runs; 'unknown': their sizes are not known yet. */
  readonly share: number | 'unknown' | undefined;
  /** Number of questions that wait for the user's answer. */
  readonly questions: number;
  /** Number of the user's own shared folders. */
  readonly shares: number;
}

export function activityOf({ transfers, questions, shares }: DaemonState): Activity {
  const all = [...transfers.values()].sort((a, b) => order(b) - order(a) || b.added - a.added);
  const underWay = all.filter(({ state }) => UNDER_WAY.includes(state));
  return {
    underWay,
    paused: all.filter(({ state }) => state === 'paused'),
    share: shareOf(underWay.filter(({ state }) => state === 'running')),
    questions: questions.length,
    shares: shares.filter(({ kind }) => kind === 'own').length,
  };
}

/** Progress of one transfer, 0 to 1, of the bytes known so far; undefined while its size is 0. */
export function doneOf({ bytes, totalBytes }: TransferView): number | undefined {
  return totalBytes > 0 ? Math.min(bytes / totalBytes, 1) : undefined;
}

/** Contacts to offer as recipients: online ones first, then the most recently seen. Blocked ones are left out. */
export function recentPeople({ contacts }: Pick<DaemonState, 'contacts'>): ContactView[] {
  return contacts
    .filter(({ blocked }) => !blocked)
    .sort((a, b) => Number(b.online) - Number(a.online) || (b.lastSeen ?? 0) - (a.lastSeen ?? 0))
    .slice(0, MOST_PEOPLE);
}

function order({ state }: TransferView): number {
  return state === 'running' ? 1 : 0;
}

function shareOf(running: readonly TransferView[]): Activity['share'] {
  if (running.length === 0) return undefined;
  const known = running.filter((transfer) => doneOf(transfer) !== undefined);
  const total = known.reduce((sum, { totalBytes }) => sum + totalBytes, 0);
  return total === 0 ? 'unknown' : known.reduce((sum, { bytes }) => sum + bytes, 0) / total;
}

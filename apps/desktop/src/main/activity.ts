// SPDX-License-Identifier: MPL-2.0
import type { ContactView, TransferView } from '@keibidrop/peer/local';
import type { DaemonState } from '../shared/daemon-state.ts';

/** States in which a transfer is under way or will be by itself. */
const UNDER_WAY: readonly string[] = ['queued', 'waiting', 'running', 'asking'];
const MOST_PEOPLE = 8;

/** What the whole window shows at a glance. */
export interface Activity {
  /** What is under way, what moves first, then the newest first. */
  readonly underWay: readonly TransferView[];
  readonly paused: readonly TransferView[];
  /** Of everything that moves, from 0 to 1; undefined: nothing does; 'unknown': something, of a size that nobody knows yet. */
  readonly share: number | 'unknown' | undefined;
  /** Somebody waits for an answer. */
  readonly questions: number;
  /** Own folders that others can see. */
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

/** How much of a transfer is done, from 0 to 1, of what is known of it so far; undefined while nothing is. */
export function doneOf({ bytes, totalBytes }: TransferView): number | undefined {
  return totalBytes > 0 ? Math.min(bytes / totalBytes, 1) : undefined;
}

/** Whom a person may want to send something now: who is there first, then who was last. */
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

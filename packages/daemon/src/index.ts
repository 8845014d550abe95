// SPDX-License-Identifier: MPL-2.0

// The process that serves all programs of one user, its client, and the history.
import type { Daemon, DaemonOptions } from './daemon.ts';
import type { LocalClient } from './local/local-client.ts';
import type { FindDaemonOptions } from './start-daemon.ts';

export type { Daemon, DaemonOptions } from './daemon.ts';
export { openByDesktop } from './desktop-opener.ts';
export { freeBytes } from './free-space.ts';
export { History, type HistoryEntry } from './history/history.ts';
export { placeOf } from './history/history-entry.ts';
export { pullHistory } from './history/pull-history.ts';
export { recording } from './history/recording.ts';
export type {
  InvitationView,
  MountView,
  ProgressView,
  ReceiveRequest,
  SendRequest,
  ShareEntryView,
  ShareView,
  TransferView,
} from './local/local-calls.ts';
export type { LocalClient } from './local/local-client.ts';
export { offeredBy } from './transfers/transfer-stats.ts';

// Loaded on demand: a direct send or receive needs neither.

/** Runs the daemon in this process. Throws as Daemon.open. */
export async function openDaemon(options: DaemonOptions): Promise<Daemon> {
  return (await import('./daemon.ts')).Daemon.open(options);
}

/** Connects to the daemon of this user. Throws as in start-daemon. */
export async function findDaemon(options: FindDaemonOptions): Promise<LocalClient> {
  return (await import('./start-daemon.ts')).findDaemon(options);
}

/** Ends the daemon of this user. Throws as in start-daemon. */
export async function stopDaemon(options: Omit<FindDaemonOptions, 'program'>): Promise<number | undefined> {
  return (await import('./start-daemon.ts')).stopDaemon(options);
}

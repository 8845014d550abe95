// SPDX-License-Identifier: MPL-2.0
import type { Daemon, DaemonOptions } from './daemon.ts';
import type { LocalClient } from './local-client.ts';
import type { FindDaemonOptions } from './start-daemon.ts';

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

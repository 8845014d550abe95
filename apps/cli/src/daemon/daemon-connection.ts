// SPDX-License-Identifier: MPL-2.0
import type { LocalClient } from '@keibidrop/daemon';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';

export interface ConnectOptions {
  /** `--config` */
  config?: string | undefined;
  /** Start a daemon if none runs. */
  start: boolean;
}

/**
 * Runs `work` with a connection to this user's daemon.
 *
 * @throws DAEMON_UNREACHABLE, DAEMON_INCOMPATIBLE, CONFIG_INVALID; errors of `work`; `io.signal.reason`
 */
export async function withDaemon<T>(
  io: Io,
  peer: Pick<PeerPackage, 'findDaemon'>,
  { config, start }: ConnectOptions,
  work: (daemon: LocalClient) => Promise<T>,
): Promise<T> {
  const { env, cwd, program, signal } = io;
  const daemon = await peer.findDaemon({ env, cwd, config, signal, ...(start && { program }) });
  try {
    return await work(daemon);
  } finally {
    daemon.close();
  }
}

// SPDX-License-Identifier: MPL-2.0
import { networkInterfaces } from 'node:os';
import { assertInterface, formatHostPort, sendersHere, sendersOnLan } from '@keibidrop/discovery';
import type { ReachOptions } from './api.ts';
import type { PathName } from './events.ts';

/** A waiting sender, at one of its addresses. */
export interface WaitingSender {
  path: Extract<PathName, 'local' | 'lan'>;
  /** The name of its offer on the network, the same at each of its addresses; it reveals no identity. */
  name?: string;
  /** `HOST:PORT`, for `connect`. */
  address: string;
}

/**
 * Yields the senders of this machine and user, then those of the networks as they answer. Leaves out the senders of this
 * process. Takes as long as one search of the network.
 *
 * @throws CONFIG_INVALID if `discovery` names a missing interface; `signal.reason` on abort
 */
export async function* waitingSenders(
  options: Pick<ReachOptions, 'discovery'> & { signal: AbortSignal },
): AsyncGenerator<WaitingSender> {
  const { discovery, signal } = options;
  signal.throwIfAborted();
  assertInterface(discovery);
  const here = await sendersHere();
  for (const { pid, host, port } of here) {
    if (pid !== process.pid) yield { path: 'local', address: formatHostPort({ host, port }) };
  }
  const reported = new Set(here.map(({ port }) => port));
  const own = new Set(Object.values(networkInterfaces()).flatMap((of) => of?.map(({ address }) => address) ?? []));
  for await (const { name, host, port } of sendersOnLan({ discovery, signal })) {
    const [plain = ''] = host.split('%');
    if (!(own.has(plain) && reported.has(port))) yield { path: 'lan', name, address: formatHostPort({ host, port }) };
  }
}

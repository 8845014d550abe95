// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { createDirectTransport } from '@keibidrop/discovery';
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import type { LanePath } from '@keibidrop/transfer';
import type { PathName } from '../events.ts';
import { pathTo } from '../suites.ts';
import { pause } from './reconnect.ts';

export interface PathUpgradeOptions {
  /** The candidates that the sender has sent. */
  announced: readonly Candidate[];
  /** Opens one more path through the routers. Returns our port of that path. */
  punch(): Promise<number>;
  /** Moves the lanes. Rejects without any change if that address does not lead to the sender. */
  move(to: LanePath, path: PathName): Promise<void>;
  signal: AbortSignal;
}

/** Pauses before the first and, at most, before further attempts. */
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 60_000;
/** A sender accepts 256 punches per session, and moved lanes need some of them. */
const MOST_PUNCHES = 128;

/**
 * Looks for a better path to a sender that was reached through a relay. It tries all addresses at once, after ever longer
 * pauses and whenever this machine's addresses change. It ends when the lanes have moved or `signal` is aborted. Never rejects:
 * the relay carries the transfer meanwhile.
 */
export async function upgradePath({ announced, punch, move, signal }: PathUpgradeOptions): Promise<void> {
  let punches = 0;
  const ways = announced.filter(({ transport, host }) => transport !== 'relay' && isIP(host) !== 0);
  const tryOne = async ({ transport, host, port }: Candidate) => {
    if (transport === 'punched') {
      if (++punches > MOST_PUNCHES) throw new KeibiError('PEER_UNREACHABLE');
      return move({ host, port, way: async () => ({ fromPort: await punch() }) }, 'punched');
    }
    await knock({ transport, host, port }, signal);
    const path = transport === 'mapped' ? 'mapped' : pathTo(host, { lan: transport === 'lan' });
    return move({ host, port }, path);
  };
  for (let pauseMs = FIRST_PAUSE_MS; ways.length > 0; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      await pause(pauseMs, signal);
    } catch {
      return;
    }
    const tries = await Promise.allSettled(ways.map(tryOne));
    if (tries.some(({ status }) => status === 'fulfilled')) return;
  }
}

/** Checks that the address accepts connections, because a lane that waits for it would block a thread of the program. */
async function knock(candidate: Candidate, signal: AbortSignal): Promise<void> {
  const socket = await createDirectTransport().dial(candidate, { signal });
  socket.on('error', () => {});
  socket.destroy();
}

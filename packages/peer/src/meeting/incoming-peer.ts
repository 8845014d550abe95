// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import type { Incoming } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import { type Keys, openSession, type ReturnSecret, refuseCall } from '@keibidrop/session';
import type { ReachOptions } from '../api.ts';
import type { PathName } from '../events.ts';
import { pathTo } from '../suites.ts';
import type { MeetingHost } from './meeting-host.ts';
import type { Receiver } from './receivers.ts';
import type { SenderReach } from './sender-reach.ts';

/** A peer that has completed a handshake at our port, by the code or by the secret of a lost session. */
export interface IncomingPeer {
  readonly incoming: Incoming;
  readonly socket: Socket;
  readonly keys: Keys & { readonly attempt: Uint8Array };
  /** The desk of the code it may have used. */
  readonly desk: MeetingHost;
}

/** Decides which peers get a session. */
export interface Admission {
  /** A peer with the code. @throws to refuse it */
  take(returning: ReturnSecret): Receiver;
  /** A returning or known peer; undefined if its secret is forgotten. */
  takeBack(attempt: Uint8Array, returning: ReturnSecret): Promise<Receiver | undefined>;
}

/**
 * Admits a peer that comes by the code or returns. Admission uses up a meeting at once; a return stays usable until the peer
 * has spoken.
 *
 * @param cut  aborted when the session is no longer wanted
 * @throws the errors of `admission`, HANDSHAKE_MALFORMED; then the keys are wiped and the connection ended, after a goodbye for
 * PEER_BUSY
 */
export async function admit(
  { incoming, socket, keys, desk }: IncomingPeer,
  { take, takeBack }: Admission,
  cut: AbortSignal,
): Promise<Receiver> {
  try {
    const meeting = desk.take(keys.attempt);
    meeting?.wipe();
    const receiver = meeting === undefined ? await takeBack(keys.attempt, keys.returning) : take(keys.returning);
    if (receiver === undefined) {
      throw new KeibiError('HANDSHAKE_MALFORMED', 'A second handshake of one meeting was refused.');
    }
    cut.throwIfAborted();
    receiver.peer ||= incoming.remoteAddress;
    return receiver;
  } catch (reason) {
    if (reason instanceof KeibiError && reason.code === 'PEER_BUSY') await turnAway({ socket, keys }, reason);
    keys.wipe();
    socket.destroy();
    throw reason;
  }
}

/** Says goodbye to a peer that is not served after its handshake, so that it does not report a lost connection. Never rejects. */
export async function turnAway(
  { socket, keys }: Pick<IncomingPeer, 'socket' | 'keys'>,
  reason: KeibiError,
): Promise<void> {
  const { signal } = new AbortController();
  const session = openSession(socket, keys, 'responder', {
    peerService: { transfer: refuseCall, digests: refuseCall },
    signal,
  });
  keys.wipe();
  await session.close(reason);
}

/** The path by which a peer has connected. */
export function pathOfIncoming(
  { relayed, remoteAddress, remotePort }: Incoming,
  reach: SenderReach,
  { discovery }: Pick<ReachOptions, 'discovery'>,
): PathName {
  const punched = reach.holes.has({ host: remoteAddress, port: remotePort });
  if (relayed || punched) return relayed ? 'relay' : 'punched';
  const path = pathTo(remoteAddress, { lan: discovery !== 'off' });
  return path === 'direct' && reach.isMapped(remoteAddress) ? 'mapped' : path;
}

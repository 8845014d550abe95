// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import type { Incoming } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import { type Keys, openSession, type ReturnSecret, refuseCall } from '@keibidrop/session';
import type { ReachOptions } from './api.ts';
import type { PathName } from './events.ts';
import type { MeetingDesk } from './meeting-desk.ts';
import type { Receiver } from './receivers.ts';
import type { SenderReach } from './sender-reach.ts';
import { pathTo } from './suites.ts';

/** A peer that has come to our port and shaken hands: it knows the code, or a session that was lost. */
export interface ArrivedPeer {
  readonly incoming: Incoming;
  readonly socket: Socket;
  readonly keys: Keys & { readonly attempt: Uint8Array };
  /** Of the code it may have come by. */
  readonly desk: MeetingDesk;
}

/** How a session comes in. */
export interface Admission {
  /** A peer with the code. @throws to turn it away */
  take(returning: ReturnSecret): Receiver;
  /** One whose session was lost, or that is known; undefined if that is forgotten. */
  takeBack(attempt: Uint8Array, returning: ReturnSecret): Promise<Receiver | undefined>;
}

/**
 * Who has come: by the code, or back. A meeting is used up by that, a return not before its peer has been heard.
 *
 * @param cut  the session is not to be any more
 * @throws     what `admission` throws, HANDSHAKE_MALFORMED; the keys are wiped and the connection ended then, PEER_BUSY being said first
 */
export async function admit(
  { incoming, socket, keys, desk }: ArrivedPeer,
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

/** Says goodbye to a peer that has shaken hands and is not served, so that it does not take that for a lost connection. Never rejects. */
export async function turnAway(
  { socket, keys }: Pick<ArrivedPeer, 'socket' | 'keys'>,
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

/** The way a peer has come. */
export function pathOfArrival(
  { relayed, remoteAddress, remotePort }: Incoming,
  reach: SenderReach,
  { discovery }: Pick<ReachOptions, 'discovery'>,
): PathName {
  const punched = reach.holes.has({ host: remoteAddress, port: remotePort });
  if (relayed || punched) return relayed ? 'relay' : 'punched';
  const path = pathTo(remoteAddress, { lan: discovery !== 'off' });
  return path === 'direct' && reach.isMapped(remoteAddress) ? 'mapped' : path;
}

// SPDX-License-Identifier: MPL-2.0
import type { Duplex } from 'node:stream';
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { type PeerServer, PeerService } from '@keibidrop/proto';
import { type ServedService, serveDuplex } from './grpc-duplex.ts';
import { stayUnknown } from './introduction.ts';
import { refusal } from './refusal.ts';

/** The calls that a session serves to its peer. The session itself answers the heartbeat and the goodbye. */
export type PeerHandlers = Pick<PeerServer, 'transfer' | 'digests'> &
  Partial<Pick<PeerServer, 'rekey' | 'rekeyReady' | 'punch' | 'introduce' | 'introduceProof'>>;

/** Refuses a call that this side of the session does not serve. */
const refuse = (_call: unknown, reply: (error: ReturnType<typeof refusal>) => void) =>
  reply(refusal('HANDSHAKE_MALFORMED'));

/**
 * Serves Peer at the other end of `duplex`. Heartbeats are echoed. `onGoodbye` gets the code of the peer's goodbye; it
 * is empty when all went well.
 *
 * @param duplex  owned from now on
 * @param more  further services that this side of the session serves
 * @returns  a function that ends the connection and every running call
 */
export function serveControl(
  duplex: Duplex,
  handlers: PeerHandlers,
  onGoodbye: (code: string) => void,
  more: readonly ServedService[] = [],
): () => void {
  const service: UntypedServiceImplementation & PeerServer = {
    transfer: handlers.transfer,
    digests: handlers.digests,
    rekey: handlers.rekey ?? refuse,
    rekeyReady: handlers.rekeyReady ?? refuse,
    punch: handlers.punch ?? refuse,
    introduce: handlers.introduce ?? stayUnknown,
    introduceProof: handlers.introduceProof ?? refuse,
    heartbeat: (call, reply) => reply(null, { sequence: call.request.sequence }),
    goodbye: (call, reply) => {
      onGoodbye(call.request.code);
      reply(null, {});
    },
  };
  return serveDuplex(duplex, [{ definition: PeerService, handlers: service }, ...more]);
}

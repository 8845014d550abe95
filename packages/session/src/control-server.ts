// SPDX-License-Identifier: MPL-2.0
import type { Duplex } from 'node:stream';
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { type PeerServer, PeerService } from '@keibidrop/proto';
import { type ServedService, serveDuplex } from './grpc-duplex.ts';
import { stayUnknown } from './introduction.ts';
import { refusal } from './refusal.ts';

/** What a session lets its peer call, beside the heartbeat and the goodbye that it answers itself. */
export type PeerHandlers = Pick<PeerServer, 'transfer' | 'digests'> &
  Partial<Pick<PeerServer, 'fold' | 'foldReady' | 'punch' | 'introduce' | 'introduceProof'>>;

/** A call that this side of this session does not take. */
const refuse = (_call: unknown, reply: (error: ReturnType<typeof refusal>) => void) =>
  reply(refusal('HANDSHAKE_MALFORMED'));

/**
 * Serves Peer at the other end of `duplex`: heartbeats are echoed, `onGoodbye` gets the code the peer leaves with (empty: all went well).
 * @param duplex  owned from now on
 * @param more    services that this side of the session has beside Peer
 * @returns       ends the connection and every running call
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
    fold: handlers.fold ?? refuse,
    foldReady: handlers.foldReady ?? refuse,
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

// SPDX-License-Identifier: MPL-2.0
import type { Duplex } from 'node:stream';
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { type PeerServer, PeerService } from '@keibidrop/proto';
import { serveDuplex } from './grpc-duplex.ts';

/** What a session lets its peer call, beside the heartbeat and the goodbye that it answers itself. */
export type PeerHandlers = Pick<PeerServer, 'transfer' | 'digests'>;

/**
 * Serves Peer at the other end of `duplex`: heartbeats are echoed, `onGoodbye` gets the code the peer leaves with (empty: all went well).
 * @param duplex  owned from now on
 * @returns       ends the connection and every running call
 */
export function serveControl(duplex: Duplex, handlers: PeerHandlers, onGoodbye: (code: string) => void): () => void {
  const service: UntypedServiceImplementation & PeerServer = {
    transfer: handlers.transfer,
    digests: handlers.digests,
    heartbeat: (call, reply) => reply(null, { sequence: call.request.sequence }),
    goodbye: (call, reply) => {
      onGoodbye(call.request.code);
      reply(null, {});
    },
  };
  return serveDuplex(duplex, PeerService, service);
}

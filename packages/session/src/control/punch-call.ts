// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { Metadata } from '@grpc/grpc-js';
import type { PeerClient, PeerServer, PunchRequest } from '@keibidrop/proto';
import { refusal } from './refusal.ts';

/** Far above the lanes of a session, even when each is dialled several times. */
const MAX_PUNCHES = 256;
const ANSWER_TIMEOUT_MS = 5000;

/**
 * Sends the responder the address from which we are about to dial, so that it dials there too (PROTOCOL 2.5).
 * @throws the call's failure
 */
export function askToPunch(client: PeerClient, place: PunchRequest): Promise<void> {
  const deadline = Date.now() + ANSWER_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    client.punch(place, new Metadata(), { deadline }, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** The responder's side of one session. It refuses invalid addresses and calls beyond the limit. */
export function punchResponder(onPunch: (place: PunchRequest) => void): PeerServer['punch'] {
  let punches = 0;
  return ({ request }, reply) => {
    const { host, port } = request;
    if (isIP(host) === 0 || port < 1 || port > 65535 || ++punches > MAX_PUNCHES) {
      return reply(refusal('HANDSHAKE_MALFORMED'));
    }
    onPunch({ host, port });
    reply(null, {});
  };
}

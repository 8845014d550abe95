// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { CONTROL_PREAMBLE } from '@keibidrop/protocol';

export type From = 'initiator' | 'responder';

/**
 * How the man in the middle changes each message, length field included: returns the bytes to forward, or none to drop
 * it.
 */
export type Alter = (message: Uint8Array, from: From, index: number) => Uint8Array;

/**
 * Forwards handshake messages between two sockets, whole and one by one. Bytes that do not look like a message pass
 * unchanged.
 */
export function relayHandshake(towardsInitiator: Socket, towardsResponder: Socket, alter: Alter): void {
  pump(towardsInitiator, towardsResponder, 'initiator', alter);
  pump(towardsResponder, towardsInitiator, 'responder', alter);
}

function pump(source: Socket, sink: Socket, from: From, alter: Alter): void {
  // The preamble is for the listener, which has already read it when the handshake begins.
  let skip = from === 'initiator' ? CONTROL_PREAMBLE.length : 0;
  let index = 0;
  let unread = Buffer.alloc(0);
  source.on('data', (piece) => {
    unread = Buffer.concat([unread, piece]);
    if (unread.length < skip) return;
    unread = unread.subarray(skip);
    skip = 0;
    while (unread.length >= 4 && unread.length >= 4 + unread.readUInt32BE()) {
      const end = 4 + unread.readUInt32BE();
      sink.write(alter(Uint8Array.from(unread.subarray(0, end)), from, index++));
      unread = unread.subarray(end);
    }
  });
  source.on('end', () => sink.end(unread));
  source.on('error', () => sink.destroy());
  source.on('close', () => sink.destroySoon());
}

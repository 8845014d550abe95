// SPDX-License-Identifier: MPL-2.0
import { createHmac } from 'node:crypto';

/** Expand of PROTOCOL, written from its text with node:crypto; shares no code with the program under test. */
export function expand(key: Uint8Array, label: string, length: number, context = new Uint8Array()): Buffer {
  const info = Buffer.concat([Buffer.from(label, 'ascii'), context, Buffer.of(1)]);
  return createHmac('sha512', key).update(info).digest().subarray(0, length);
}

export type SuiteName = 'aes-256-gcm' | 'chacha20-poly1305';

const LABELS: Record<SuiteName, string> = {
  'aes-256-gcm': 'KeibiDrop-AES-256-GCM-SEK',
  'chacha20-poly1305': 'KeibiDrop-ChaCha20-Poly1305-SEK',
};

/** PROTOCOL 3, "lane key, each direction": the key of epoch 0. */
export function laneKey(
  laneSecret: Uint8Array,
  suite: SuiteName,
  writer: 'initiator' | 'responder',
  lane: number,
): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(lane);
  return expand(laneSecret, `${LABELS[suite]} lane ${writer}`, 32, number);
}

/** PROTOCOL 4.2: the key of the epoch that follows `key`. */
export function nextEpochKey(key: Uint8Array): Buffer {
  return expand(key, 'KeibiDrop ratchet', 32);
}

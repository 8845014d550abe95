// SPDX-License-Identifier: MPL-2.0

/** First bytes of each connection for a relay (PROTOCOL 2.3); the token follows. */
const RELAY_PREAMBLE = new TextEncoder().encode('KEIBI-R1');

/** Length of the token that pairs two connections at a relay. */
export const RELAY_TOKEN_BYTES = 32;

/** A relay's answer, sent once before it forwards data. */
export type RelayAnswer = 'joined' | 'no-room' | 'nobody-came';

const answers: Readonly<Record<number, RelayAnswer>> = { 1: 'joined', 2: 'no-room', 3: 'nobody-came' };

/** `| "KEIBI-R1" | token 32 |` */
export function encodeRelayHello(token: Uint8Array): Uint8Array {
  if (token.length !== RELAY_TOKEN_BYTES) throw new RangeError(`a relay token of ${token.length} bytes`);
  const hello = new Uint8Array(RELAY_PREAMBLE.length + RELAY_TOKEN_BYTES);
  hello.set(RELAY_PREAMBLE);
  hello.set(token, RELAY_PREAMBLE.length);
  return hello;
}

/** Decodes the byte of an answer; undefined if it is unknown. */
export function decodeRelayAnswer(byte: number): RelayAnswer | undefined {
  return answers[byte];
}

// SPDX-License-Identifier: MPL-2.0

/** What each of two connections that a relay is to join says first (PROTOCOL 2.3); the token follows. */
const RELAY_PREAMBLE = new TextEncoder().encode('KEIBI-R1');

/** Pairs two connections at a relay. */
export const RELAY_TOKEN_BYTES = 32;

/** What a relay answers, once, before it forwards anything. */
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

/** The answer of one byte; undefined if no relay answers so. */
export function decodeRelayAnswer(byte: number): RelayAnswer | undefined {
  return answers[byte];
}

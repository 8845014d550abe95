// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { decodeRelayAnswer, encodeRelayHello } from './relay-message.ts';

describe('the exchange with a relay', () => {
  it('begins with the preamble and the token', () => {
    const hello = encodeRelayHello(new Uint8Array(32).fill(0xab));
    expect(new TextDecoder().decode(hello.subarray(0, 8))).toBe('KEIBI-R1');
    expect(hello.subarray(8)).toEqual(new Uint8Array(32).fill(0xab));
  });

  it.each([0, 31, 33])('rejects a token of %i bytes', (length) => {
    expect(() => encodeRelayHello(new Uint8Array(length))).toThrow(RangeError);
  });

  it('has one of three answers, of one byte', () => {
    expect([0, 1, 2, 3, 4, 255].map(decodeRelayAnswer)).toEqual([
      undefined,
      'joined',
      'no-room',
      'nobody-came',
      undefined,
      undefined,
    ]);
  });
});

// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { toHex } from '../../test/vectors.ts';
import { halfSipHash } from './name-hash.ts';

// The last sixteen of vectors_hsip32 in vectors.h of the reference code (github.com/veorq/SipHash): key 00 to 07, inputs 00, 01, … of
// 48 to 63 bytes. The first four bytes of an input are passed as `first`.
const expected = `
  69e12ce3 8db580e5 369764c6 016e0204 3b85f3d4 fedb66be 1e692a3a c68984c0
  a5c5b940 9be9e88c 7dbc8140 7c078ec5 d4e76c73 428fcbb9 bd83997a 59ea4a74`
  .trim()
  .split(/\s+/);

describe('halfSipHash', () => {
  const key = new Uint32Array([0x03020100, 0x07060504]);

  it.each(Array.from({ length: 16 }, (_, i) => 48 + i))('equals the reference for %i bytes', (length) => {
    const input = Uint8Array.from({ length }, (_, i) => i);
    const word = halfSipHash(key, 0x03020100, input, 4, length - 4);
    expect(toHex(new Uint8Array(new Uint32Array([word]).buffer))).toBe(expected[length - 48]);
  });

  it('differs under another key', () => {
    const input = new Uint8Array(20);
    expect(halfSipHash(new Uint32Array([1, 2]), 0, input, 0, 20)).not.toBe(halfSipHash(key, 0, input, 0, 20));
  });
});

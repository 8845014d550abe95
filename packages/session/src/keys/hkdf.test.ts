// SPDX-License-Identifier: MPL-2.0
import { expand as nobleExpand, extract as nobleExtract } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha512 as nobleSha512 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { expand, extract, hmacSha512, sha512 } from './hkdf.ts';
import { loadSodium, type Sodium } from './sodium.ts';

const someBytes = (maxLength: number) => fc.uint8Array({ maxLength });

let sodium: Sodium;
beforeAll(async () => {
  sodium = await loadSodium();
});

// @noble/hashes is an independent implementation that shares nothing with libsodium.
describe('HKDF with SHA-512', () => {
  it('hashes parts as their concatenation', () => {
    fc.assert(
      fc.property(someBytes(300), someBytes(300), (a, b) => {
        expect(sha512(sodium, a, b)).toEqual(nobleSha512(Uint8Array.of(...a, ...b)));
      }),
    );
  });

  it('authenticates under keys of any length', () => {
    fc.assert(
      fc.property(someBytes(300), someBytes(300), (key, message) => {
        expect(hmacSha512(sodium, key, message)).toEqual(hmac(nobleSha512, key, message));
      }),
    );
  });

  it('extracts as RFC 5869 2.2 says', () => {
    fc.assert(
      fc.property(someBytes(200), someBytes(200), someBytes(200), (salt, a, b) => {
        expect(extract(sodium, salt, a, b)).toEqual(nobleExtract(nobleSha512, Uint8Array.of(...a, ...b), salt));
      }),
    );
  });

  it('expands as RFC 5869 2.3 says', () => {
    const label = fc.string({ unit: 'grapheme-ascii', maxLength: 60 });
    const key64 = fc.uint8Array({ minLength: 64, maxLength: 64 });
    fc.assert(
      fc.property(key64, label, someBytes(20), fc.integer({ min: 1, max: 64 }), (key, text, context, length) => {
        const info = Uint8Array.of(...new TextEncoder().encode(text), ...context);
        expect(expand(sodium, key, text, length, context)).toEqual(nobleExpand(nobleSha512, key, info, length));
      }),
    );
  });

  it('expands a key shorter than the hash as plain HMAC', () => {
    const key = new Uint8Array(32).fill(7);
    const info = new TextEncoder().encode('KeibiDrop ratchet');
    const expected = hmac(nobleSha512, key, Uint8Array.of(...info, 1)).subarray(0, 32);
    expect(expand(sodium, key, 'KeibiDrop ratchet', 32)).toEqual(expected);
  });

  it('refuses to expand beyond one block', () => {
    expect(() => expand(sodium, new Uint8Array(64), 'label', 65)).toThrow(RangeError);
  });
});

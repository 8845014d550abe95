// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALL_SUITES, chooseSuite, type Suite, suiteLabel, suitesFromBits, suitesToBits } from './suite.ts';

const AES: Suite = 'aes-256-gcm';
const CHACHA: Suite = 'chacha20-poly1305';

describe('chooseSuite', () => {
  it.each([
    { self: [AES, CHACHA], peer: [AES, CHACHA], hardware: [true, true], suite: AES },
    { self: [AES, CHACHA], peer: [AES, CHACHA], hardware: [true, false], suite: CHACHA },
    { self: [AES, CHACHA], peer: [AES, CHACHA], hardware: [false, false], suite: CHACHA },
    { self: [AES], peer: [AES, CHACHA], hardware: [false, false], suite: AES },
    { self: [CHACHA], peer: [AES, CHACHA], hardware: [true, true], suite: CHACHA },
    { self: [AES], peer: [AES], hardware: [false, true], suite: AES },
    { self: [AES], peer: [CHACHA], hardware: [true, true], suite: undefined },
    { self: [], peer: [AES, CHACHA], hardware: [true, true], suite: undefined },
  ])('chooses $suite of $self and $peer with hardware $hardware', ({ self, peer, hardware, suite }) => {
    const [own, others] = hardware as [boolean, boolean];
    expect(chooseSuite({ suites: self, hardware: own }, { suites: peer, hardware: others })).toBe(suite);
  });

  it('is the same for both peers', () => {
    const offer = fc.record({ suites: fc.subarray([...ALL_SUITES]), hardware: fc.boolean() });
    fc.assert(
      fc.property(offer, offer, (a, b) => {
        expect(chooseSuite(a, b)).toBe(chooseSuite(b, a));
      }),
    );
  });
});

describe('the suites byte', () => {
  it.each([
    [0, []],
    [1, [AES]],
    [2, [CHACHA]],
    [3, [AES, CHACHA]],
  ])('is %i for %j', (bits, suites) => {
    expect(suitesFromBits(bits)).toEqual(suites);
    expect(suitesToBits(suites)).toBe(bits);
  });

  it('may have bits of later versions, which are ignored', () => {
    expect(suitesFromBits(0xff)).toEqual(ALL_SUITES);
  });
});

describe('suiteLabel', () => {
  it('is the LABEL of PROTOCOL 3', () => {
    expect(ALL_SUITES.map(suiteLabel)).toEqual(['KeibiDrop-AES-256-GCM-SEK', 'KeibiDrop-ChaCha20-Poly1305-SEK']);
  });
});

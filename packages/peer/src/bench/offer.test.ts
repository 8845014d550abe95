// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { benchRoots, benchSize, sizeOfOffer } from './offer.ts';

const MIB = 2 ** 20;
const names = ['warm-up', 'link', 'reading', 'whole'];
const offer = { files: 4, nameCount: 4, names, bytes: 26 * MIB };

it('derives the size of each file from the total size', () => {
  for (const asked of [8 * MIB, 8 * MIB + 1, 256 * MIB, 2 ** 34]) {
    const size = benchSize(asked);
    const generated = benchRoots(size, { reading: '/r', whole: '/w' }).map(
      ({ generatedBytes = size }) => generatedBytes,
    );
    const bytes = generated.reduce((sum, one) => sum + one);
    expect(sizeOfOffer({ ...offer, bytes })).toBe(size);
    expect(size).toBeGreaterThanOrEqual(asked);
  }
});

it.each([8 * MIB - 1, 2 ** 34 + 1, 0, Number.NaN])('refuses a size of %d bytes', (size) => {
  expect(() => benchSize(size)).toThrow('--size');
});

it.each<[string, Partial<typeof offer & { text: boolean }>]>([
  ['other names', { names: ['a', 'b', 'c', 'd'] }],
  ['another order', { names: [...names].reverse() }],
  ['more names than are shown', { nameCount: 5 }],
  ['files within folders', { files: 5 }],
  ['a text', { text: true }],
  ['a size that is no bench of ours', { bytes: 26 * MIB + 1 }],
  ['too much', { bytes: (2 ** 34 / 4) * 13 * 2 }],
  ['too little', { bytes: 13 * MIB }],
])('does not accept %s as a bench', (_, change) => {
  expect(sizeOfOffer({ ...offer, ...change })).toBeUndefined();
});

// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { bytesText, clockText, percentText, rateText } from './number-text.ts';

/** Languages put different kinds of space before a unit. */
function plain(text: string): string {
  return text.replace(/\s/g, ' ');
}

describe('bytesText', () => {
  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1000, '1 kB'],
    [1_234_567, '1.23 MB'],
    [12_345_678, '12.3 MB'],
    [123_456_789, '123 MB'],
    [999_949, '1 MB'],
    [2 ** 40, '1.1 TB'],
  ])('of %i', (bytes, expected) => {
    expect(plain(bytesText(bytes, 'en'))).toBe(expected);
  });

  it('follows the number format of the language', () => {
    expect(plain(bytesText(1_500_000, 'de'))).toBe('1,5 MB');
    expect(plain(rateText(1_500_000, 'es'))).toBe('1,5 MB/s');
  });
});

describe('percentText', () => {
  it.each([
    [0, '0%'],
    [0.456, '46%'],
    [0.9999, '99%'],
    [1, '100%'],
  ])('of %d', (share, expected) => {
    expect(percentText(share, 'en')).toBe(expected);
  });
});

describe('clockText', () => {
  it.each([
    [0, '0:00'],
    [45.4, '0:45'],
    [725, '12:05'],
    [10_800, '3:00:00'],
    [-1, '0:00'],
  ])('of %d seconds', (seconds, expected) => {
    expect(clockText(seconds)).toBe(expected);
  });
});

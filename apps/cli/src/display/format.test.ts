// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { formatBytes, formatBytesOf, formatClock, formatCount, formatDuration, formatRate } from './format.ts';

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1, '1 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [1500, '1.5 kB'],
    [100_000, '100 kB'],
    [999_499, '999 kB'],
    [999_500, '1.0 MB'],
    [99.94e6, '99.9 MB'],
    [99.96e6, '100 MB'],
    [3.4e9, '3.4 GB'],
    [2 ** 53, '9.0 PB'],
  ])('shows %d bytes as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe('formatBytesOf', () => {
  it.each([
    [0, 0, '0/0 B'],
    [0, 3.4 * 1e9, '0.0/3.4 GB'],
    [1.25 * 1e9, 3.4 * 1e9, '1.3/3.4 GB'],
    [900 * 1e6, 3.4 * 1e9, '900 MB/3.4 GB'],
  ])('shows %d of %d as %s', (bytes, total, text) => expect(formatBytesOf(bytes, total)).toBe(text));
});

it('shows a rate per second', () => expect(formatRate(112 * 1e6)).toBe('112 MB/s'));

it.each([
  [0, 'file', '0 files'],
  [1, 'file', '1 file'],
  [1234567, 'file', '1,234,567 files'],
  [2, 'entry', '2 entries'],
])('counts %d of %s as %s', (count, noun, text) => expect(formatCount(count, noun)).toBe(text));

it.each([
  [-1, '0:00'],
  [0.2, '0:01'],
  [59, '0:59'],
  [59.5, '1:00'],
  [3599.1, '1:00:00'],
  [3723, '1:02:03'],
  [47 * 3600, '47:00:00'],
  [51 * 3600, '2d 3h'],
])('shows %d seconds on a clock as %s', (seconds, text) => expect(formatClock(seconds)).toBe(text));

it.each([
  [0, '0.0 s'],
  [0.44, '0.4 s'],
  [9.96, '10 s'],
  [59.4, '59 s'],
  [59.6, '1 min 0 s'],
  [125, '2 min 5 s'],
  [3720, '1 h 2 min'],
])('says %d seconds as %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text));

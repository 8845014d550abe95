// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { formatBytes, formatBytesOf, formatClock, formatCount, formatDuration, formatRate } from './format.ts';

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1, '1 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [100 * 1024, '100 KiB'],
    [1023 * 1024, '1023 KiB'],
    [1024 ** 2 - 1, '1.0 MiB'],
    [99.94 * 1024 ** 2, '99.9 MiB'],
    [99.96 * 1024 ** 2, '100 MiB'],
    [3.4 * 1024 ** 3, '3.4 GiB'],
    [2 ** 53, '8.0 PiB'],
  ])('shows %d bytes as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe('formatBytesOf', () => {
  it.each([
    [0, 0, '0/0 B'],
    [0, 3.4 * 2 ** 30, '0.0/3.4 GiB'],
    [1.25 * 2 ** 30, 3.4 * 2 ** 30, '1.3/3.4 GiB'],
    [900 * 2 ** 20, 3.4 * 2 ** 30, '900 MiB/3.4 GiB'],
  ])('shows %d of %d as %s', (bytes, total, text) => expect(formatBytesOf(bytes, total)).toBe(text));
});

it('shows a rate per second', () => expect(formatRate(112 * 2 ** 20)).toBe('112 MiB/s'));

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

// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { Throughput } from './throughput.ts';

/** The rates reported every 100 ms for the count `bytesAt(ms)`. */
function ratesOf(bytesAt: (ms: number) => number, seconds: number): number[] {
  const throughput = new Throughput();
  return Array.from({ length: seconds * 10 }, (_, i) => throughput.add(bytesAt(i * 100), i * 100));
}

it('reports a steady rate', () => {
  for (const rate of ratesOf((ms) => ms * 50, 10).slice(1)) expect(rate).toBe(50_000);
});

it('does not count the bytes of an earlier run', () => {
  expect(ratesOf(() => 1_000_000, 5)).toEqual(new Array(50).fill(0));
});

it('follows a change within a few seconds, and reports 0 for a stalled transfer', () => {
  const rates = ratesOf((ms) => Math.min(ms, 5000) * 50, 10);
  expect(rates[49]).toBe(50_000);
  expect(rates[81]).toBe(0);
});

it('reports the rate of a slow transfer between its chunks too', () => {
  // 100 KiB a second, a MiB at a time.
  const rates = ratesOf((ms) => Math.floor(ms / 10_240) * 2 ** 20, 120).slice(410);
  for (const rate of rates) expect(Math.abs(rate - 100 * 1024)).toBeLessThan(2 * 1024);
});

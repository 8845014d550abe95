// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { Throughput } from './throughput.ts';

/** The rates that are told every 100 ms when the count is `bytesAt(ms)`. */
function ratesOf(bytesAt: (ms: number) => number, seconds: number): number[] {
  const throughput = new Throughput();
  return Array.from({ length: seconds * 10 }, (_, i) => throughput.add(bytesAt(i * 100), i * 100));
}

it('tells a steady rate', () => {
  for (const rate of ratesOf((ms) => ms * 50, 10).slice(1)) expect(rate).toBe(50_000);
});

it('does not count what an earlier run had brought', () => {
  expect(ratesOf(() => 1_000_000, 5)).toEqual(new Array(50).fill(0));
});

it('tells of a change within a few seconds, and nothing of what stands still', () => {
  const rates = ratesOf((ms) => Math.min(ms, 5000) * 50, 10);
  expect(rates[49]).toBe(50_000);
  expect(rates[81]).toBe(0);
});

it('tells the rate of a slow transfer also between its chunks', () => {
  // 100 KiB a second, a MiB at a time.
  const rates = ratesOf((ms) => Math.floor(ms / 10_240) * 2 ** 20, 120).slice(410);
  for (const rate of rates) expect(Math.abs(rate - 100 * 1024)).toBeLessThan(2 * 1024);
});

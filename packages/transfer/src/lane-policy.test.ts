// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { LanePolicy } from './lane-policy.ts';

/** Simulates a transfer of `seconds` with a rate in bytes per ms that depends on lanes and time; returns the final number of lanes. */
function lanesAfter(rttMs: number, seconds: number, rateOf: (lanes: number, atMs: number) => number): number {
  const policy = new LanePolicy(rttMs);
  let bytes = 0;
  for (let atMs = 0; atMs <= seconds * 1000; atMs += 100) bytes += 100 * rateOf(policy.observe(atMs, bytes), atMs);
  return policy.lanes;
}

const MEGABYTE_PER_MS = 1e6;

describe('LanePolicy', () => {
  it.each([
    [0, 1],
    [0.05, 1],
    [1.9, 1],
    [24, 1],
    [50, 2],
    [180, 7],
    [600, 8],
  ])('begins a path of %d ms with %d lanes', (rttMs, lanes) => {
    expect(new LanePolicy(rttMs).lanes).toBe(lanes);
  });

  it('keeps one lane on a short path, even if more would be faster', () => {
    expect(lanesAfter(0.1, 60, (lanes) => lanes * MEGABYTE_PER_MS)).toBe(1);
  });

  it('grows to 16 lanes while each step is faster', () => {
    expect(lanesAfter(24, 60, (lanes) => lanes * MEGABYTE_PER_MS)).toBe(16);
  });

  it('tries one more on a full link, and keeps it', () => {
    expect(lanesAfter(24, 60, () => 60_000)).toBe(2);
  });

  it('stops where the link is full', () => {
    expect(lanesAfter(24, 60, (lanes) => Math.min(lanes, 4) * 10_000)).toBe(8);
    expect(lanesAfter(24, 60, (lanes) => Math.min(lanes, 2) * 10_000)).toBe(3);
  });

  it('adds none while the rate still rises by itself', () => {
    const ramp = (_lanes: number, atMs: number) => Math.exp(atMs / 3000);
    expect(lanesAfter(24, 20, ramp)).toBe(1);
  });

  it('adds none while no data arrives', () => {
    expect(lanesAfter(24, 60, () => 0)).toBe(1);
  });

  it('treats a gain of a few percent as noise', () => {
    expect(lanesAfter(24, 60, (lanes) => 10_000 * (1 + lanes / 50))).toBe(2);
  });
});

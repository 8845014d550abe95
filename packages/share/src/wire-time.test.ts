// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { fromWireTime, toWireTime } from './wire-time.ts';

describe('a time on the wire', () => {
  it.each([0n, 1n, -1n, 1_700_000_000_123_456_789n, -1_000_000_000n, -999_999_999n, 9_223_372_035_999_999_999n])(
    'is %d nanoseconds on both sides',
    (ns) => {
      expect(fromWireTime(toWireTime(ns))).toBe(ns);
    },
  );

  it.each([
    undefined,
    { seconds: 9_223_372_036, nanoseconds: 0 },
    { seconds: -9_223_372_036, nanoseconds: 0 },
    { seconds: 0.5, nanoseconds: 0 },
    { seconds: Number.NaN, nanoseconds: 0 },
    { seconds: 0, nanoseconds: 1_000_000_000 },
  ])('is refused as %j', (time) => {
    expect(() => fromWireTime(time)).toThrow(expect.objectContaining({ code: 'SHARE_CALL_FAILED' }));
  });
});

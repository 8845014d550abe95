// SPDX-License-Identifier: MPL-2.0
import type { Time } from '@keibidrop/proto';
import { callFailure } from '@keibidrop/protocol';

const NS = 1_000_000_000n;
/** Seconds that 64 bits of nanoseconds can say. */
const MOST_SECONDS = 9_223_372_036;

export function toWireTime(mtimeNs: bigint): Time {
  const nanoseconds = ((mtimeNs % NS) + NS) % NS;
  return { seconds: Number((mtimeNs - nanoseconds) / NS), nanoseconds: Number(nanoseconds) };
}

/** @throws SHARE_CALL_FAILED (EINVAL) for an invalid time */
export function fromWireTime(time: Time | undefined): bigint {
  const { seconds, nanoseconds } = time ?? { seconds: Number.NaN, nanoseconds: 0 };
  if (!Number.isSafeInteger(seconds) || Math.abs(seconds) >= MOST_SECONDS || nanoseconds >= NS) {
    throw callFailure('EINVAL');
  }
  return BigInt(seconds) * NS + BigInt(nanoseconds);
}

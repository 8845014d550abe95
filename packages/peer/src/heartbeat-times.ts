// SPDX-License-Identifier: MPL-2.0
import type { HeartbeatTimes } from '@keibidrop/session';

const LONGEST_MS = 5000;

/** KD_HEARTBEAT_MS shortens the interval, for tests; it cannot lengthen it. */
export function heartbeatTimes(): Partial<HeartbeatTimes> {
  const asked = Number(process.env.KD_HEARTBEAT_MS);
  const ms = asked > 0 ? Math.min(asked, LONGEST_MS) : LONGEST_MS;
  return { intervalMs: ms, timeoutMs: ms };
}

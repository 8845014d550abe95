// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertInteger, assertText } from './arguments.ts';
import { suiteBitOf } from './frame.ts';
import type { LaneKeys } from './send-job.ts';

/** The same as in packages/protocol. */
export const MAX_LANE_NUMBERS = 256;

/** How a lane reaches the other side; empty if its address can simply be dialled. */
export interface LaneWay {
  /** The address is a relay's, joined with these 32 bytes first (PROTOCOL 2.3). */
  relayToken?: Uint8Array | undefined;
  /** The local port from which the sender expects us; it also dials us there (PROTOCOL 2.5). */
  fromPort?: number | undefined;
}

/** The arguments of native code for dialling one lane. */
export type LaneDial = [
  host: string,
  port: number,
  lane: number,
  sessionId: Uint8Array,
  laneSecret: Uint8Array,
  suiteBit: number,
  relayToken: Uint8Array | undefined,
  fromPort: number | undefined,
];

export function checkedLane(
  host: string,
  port: number,
  lane: number,
  { sessionId, laneSecret, suite }: LaneKeys,
  { relayToken, fromPort }: LaneWay,
): LaneDial {
  assertText('host', host);
  assertInteger('port', port, 1, 65535);
  assertInteger('lane', lane, 0, MAX_LANE_NUMBERS - 1);
  assertBytes('sessionId', sessionId, 16);
  assertBytes('laneSecret', laneSecret, 32);
  if (relayToken !== undefined) assertBytes('relayToken', relayToken, 32);
  if (fromPort !== undefined) assertInteger('fromPort', fromPort, 1, 65535);
  return [host, port, lane, sessionId, laneSecret, suiteBitOf(suite), relayToken, fromPort];
}

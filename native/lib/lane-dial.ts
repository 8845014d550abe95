// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertInteger, assertText } from './arguments.ts';
import { suiteBitOf } from './frame.ts';
import type { LaneKeys } from './send-job.ts';

/** Of packages/protocol. */
export const MAX_LANE_NUMBERS = 256;

/** How a lane comes to the other side; nothing of it is needed where an address can simply be dialled. */
export interface LaneWay {
  /** The address is a relay's, to be joined with these 32 bytes first (PROTOCOL 2.3). */
  relayToken?: Uint8Array | undefined;
  /** The port of ours from which the sender expects us, and dials us too (PROTOCOL 2.5). */
  fromPort?: number | undefined;
}

/** What native takes to dial one lane. */
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

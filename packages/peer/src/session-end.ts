// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import { type ErrorCode, KeibiError } from '@keibidrop/protocol';
import type { Session } from '@keibidrop/session';

const LAST_WORDS_MS = 500;
/** What a network does to a session, whichever side finds it out. */
const LOSSES: readonly unknown[] = [
  'SESSION_LOST',
  'FRAME_TRUNCATED',
  'PEER_UNREACHABLE',
  'HANDSHAKE_TIMEOUT',
] satisfies ErrorCode[];

/** Whether a session was lost, so that another may go on where it was, and not ended by a verdict of either side. */
export function isLoss(reason: unknown): reason is KeibiError {
  if (!(reason instanceof KeibiError)) return false;
  return LOSSES.includes(reason.code === 'SESSION_CLOSED' ? reason.detail?.reason : reason.code);
}

/** Rejects when the session ends: with the reason the peer gave, or with what happened to the connection. */
export async function lost(session: Session): Promise<never> {
  throw (await session.closed) ?? new KeibiError('SESSION_CLOSED');
}

/**
 * Why a transfer failed. Its call and its lanes break when the peer leaves, perhaps a moment before the session knows why it left:
 * then what the session says counts.
 */
export async function causeOf(symptom: unknown, session: Session): Promise<unknown> {
  if (!(symptom instanceof KeibiError && symptom.code === 'SESSION_LOST')) return symptom;
  const told = lost(session).catch((reason: unknown) => reason);
  return Promise.race([told, setTimeout(LAST_WORDS_MS, symptom, { ref: false })]);
}

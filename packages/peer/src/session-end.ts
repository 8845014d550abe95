// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import { type ErrorCode, KeibiError } from '@keibidrop/protocol';
import type { Session } from '@keibidrop/session';

const LAST_WORDS_MS = 500;
/** Codes of a failed network, on either side. */
const LOSSES: readonly unknown[] = [
  'SESSION_LOST',
  'FRAME_TRUNCATED',
  'PEER_UNREACHABLE',
  'HANDSHAKE_TIMEOUT',
] satisfies ErrorCode[];

/** Whether a session was lost, so that another can resume it, rather than ended by a verdict of either side. */
export function isLoss(reason: unknown): reason is KeibiError {
  if (!(reason instanceof KeibiError)) return false;
  return LOSSES.includes(reason.code === 'SESSION_CLOSED' ? reason.detail?.reason : reason.code);
}

/** Rejects when the session ends, with the peer's reason or the failure of the connection. */
export async function lost(session: Session): Promise<never> {
  throw (await session.closed) ?? new KeibiError('SESSION_CLOSED');
}

/**
 * The reason of a failed transfer. When the peer leaves, its call and lanes may break just before the session knows why; then
 * the session's reason counts.
 */
export async function causeOf(symptom: unknown, session: Session): Promise<unknown> {
  if (!(symptom instanceof KeibiError && symptom.code === 'SESSION_LOST')) return symptom;
  const reason = lost(session).catch((reason: unknown) => reason);
  return Promise.race([reason, setTimeout(LAST_WORDS_MS, symptom, { ref: false })]);
}

// SPDX-License-Identifier: MPL-2.0
import type { TransferSummary } from '@keibidrop/peer';
import { errorOfFailures, KeibiError } from '@keibidrop/protocol';
import type { TransferState } from './transfer-entry.ts';

/** How a run ended. */
export interface TransferEnd {
  at: number;
  state: Extract<TransferState, 'done' | 'failed' | 'cancelled'>;
  summary?: TransferSummary;
  error?: KeibiError;
}

export function endOf(summary: TransferSummary): TransferEnd {
  const error = errorOfFailures(summary.failed);
  return { at: Date.now(), summary, ...(error ? { state: 'failed', error } : { state: 'done' }) };
}

export function failureOf(reason: unknown, signal: AbortSignal): TransferEnd {
  const error = KeibiError.from(signal.aborted ? signal.reason : reason, 'INTERNAL');
  // The other side's user has cancelled it, so this is no failure.
  if (error.code === 'SESSION_CLOSED' && error.detail?.reason === 'CANCELLED')
    return { at: Date.now(), state: 'cancelled', error };
  return error.code === 'CANCELLED'
    ? { at: Date.now(), state: 'cancelled' }
    : { at: Date.now(), state: 'failed', error };
}

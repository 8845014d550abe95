// SPDX-License-Identifier: MPL-2.0
import type { Problem } from '@keibidrop/native';
import { type ErrorCode, isErrorCode, KeibiError, MAX_LABEL_BYTES, messageFor } from '@keibidrop/protocol';

/** One entry that did not make it. `path` is relative, as the sending peer named it. */
export interface FailedEntry {
  path: string;
  code: ErrorCode;
  /** A sentence for people, without the path. */
  message: string;
}

/** What became of one transfer that ran to its end. */
export interface TransferOutcome {
  /** Files that stand complete at the receiver because of this run. */
  files: number;
  /** Bytes of those files. */
  bytes: number;
  /** Files left alone: up to date, or a collision answered with "skip". */
  skipped: number;
  /** Bytes of `bytes` that an earlier run had brought. */
  resumedBytes: number;
  failed: FailedEntry[];
}

/** How much of an offer stands on the receiver's disk. */
export interface TransferProgress {
  files: number;
  bytes: number;
  /** At the receiver: part of `bytes` that was there from an earlier run. */
  resumedBytes?: number;
}

/** A code from native; INTERNAL for one that the table lacks. */
export function codeOf(code: string): ErrorCode {
  return isErrorCode(code) ? code : 'INTERNAL';
}

/** What native reported of an entry, as people read it: what to do, and why the system said no. */
export function failedEntry({ path, code, reason }: Problem): FailedEntry {
  const detail = reason.includes(': ') ? ` (${reason.slice(reason.lastIndexOf(': ') + 2)})` : '';
  return { path, code: codeOf(code), message: messageFor(codeOf(code)) + detail };
}

/** A lane ended before the transfer did; '' means that it said goodbye, which it should not have. */
export function laneError(code: string): KeibiError {
  const known = code === '' ? 'SESSION_CLOSED' : codeOf(code);
  return new KeibiError(known, messageFor(known));
}

/** The name a peer gives itself. @throws TRANSFER_LIMIT_EXCEEDED over MAX_LABEL_BYTES */
export function checkedLabel(label: string): string {
  if (Buffer.byteLength(label) <= MAX_LABEL_BYTES) return label;
  throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', `The peer's name is longer than ${MAX_LABEL_BYTES} bytes.`);
}

/** Bytes of failures that one transfer keeps: a million entries with paths of 40 bytes, or a peer that makes them up. */
const MAX_FAILURE_BYTES = 96 * 2 ** 20;
const BYTES_A_FAILURE = 64;

/** Bounds what a peer can make us remember by reporting failures. */
export class FailureBudget {
  #bytes = 0;

  /** @throws TRANSFER_LIMIT_EXCEEDED when more has failed than can be told */
  spend({ path }: Pick<FailedEntry, 'path'>): void {
    this.#bytes += BYTES_A_FAILURE + path.length;
    if (this.#bytes <= MAX_FAILURE_BYTES) return;
    throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'More entries have failed than can be listed. Send in parts.');
  }
}

/** A message that has no place where the peer said it. */
export function outOfTurn(what: string): KeibiError {
  return new KeibiError('HANDSHAKE_MALFORMED', messageFor('HANDSHAKE_MALFORMED', `"${what}" came out of turn`));
}

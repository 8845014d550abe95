// SPDX-License-Identifier: MPL-2.0
import type { Problem } from '@keibidrop/native';
import { type ErrorCode, isErrorCode, KeibiError, MAX_LABEL_BYTES, messageFor } from '@keibidrop/protocol';

/** One entry that failed. `path` is relative, as the sending peer named it. */
export interface FailedEntry {
  path: string;
  code: ErrorCode;
  /** A sentence for the user, without the path. */
  message: string;
}

/** The outcome of one transfer that ran to its end. */
export interface TransferOutcome {
  /** Files that are complete at the receiver because of this run. */
  files: number;
  /** Bytes of those files. */
  bytes: number;
  /** Files left unchanged: up to date, or a collision answered with "skip". */
  skipped: number;
  /** Part of `bytes` that an earlier run had received. */
  resumedBytes: number;
  failed: FailedEntry[];
}

/** How much of an offer is on the receiver's disk. */
export interface TransferProgress {
  files: number;
  bytes: number;
  /** Known at the receiver only: part of `bytes` from an earlier run. */
  resumedBytes?: number;
  /** Path of the file being moved, as the sending peer named it; absent before the first. */
  file?: string;
}

/** The field of a job's progress that names its current file, if there is one. */
export function fileOf(job: { currentPath(): string }): Pick<TransferProgress, 'file'> {
  const file = job.currentPath();
  return file === '' ? {} : { file };
}

/** Converts a code from native; INTERNAL for one that the table lacks. */
export function codeOf(code: string): ErrorCode {
  return isErrorCode(code) ? code : 'INTERNAL';
}

/** Converts native's report of an entry for the user: the advice, and the system's reason. */
export function failedEntry({ path, code, reason }: Problem): FailedEntry {
  const detail = reason.includes(': ') ? ` (${reason.slice(reason.lastIndexOf(': ') + 2)})` : '';
  return { path, code: codeOf(code), message: messageFor(codeOf(code)) + detail };
}

/** The error for a lane that ended before the transfer; '' is a goodbye, which is not allowed then. */
export function laneError(code: string): KeibiError {
  const known = code === '' ? 'SESSION_CLOSED' : codeOf(code);
  return new KeibiError(known, messageFor(known));
}

/** Checks the name that a peer gives itself. @throws TRANSFER_LIMIT_EXCEEDED over MAX_LABEL_BYTES */
export function checkedLabel(label: string): string {
  if (Buffer.byteLength(label) <= MAX_LABEL_BYTES) return label;
  throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', `The peer's name is longer than ${MAX_LABEL_BYTES} bytes.`);
}

/** Memory for failures of one transfer: enough for a million entries with paths of 40 bytes. Limits a peer that invents failures. */
const MAX_FAILURE_BYTES = 96 * 2 ** 20;
const BYTES_A_FAILURE = 64;

/** Limits the memory that a peer can use by reporting failures. */
export class FailureBudget {
  #bytes = 0;

  /** @throws TRANSFER_LIMIT_EXCEEDED when too many entries have failed */
  spend({ path }: Pick<FailedEntry, 'path'>): void {
    this.#bytes += BYTES_A_FAILURE + path.length;
    if (this.#bytes <= MAX_FAILURE_BYTES) return;
    throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'More entries have failed than can be listed. Send in parts.');
  }
}

/** The error for a message that is not allowed at this point. */
export function outOfTurn(what: string): KeibiError {
  return new KeibiError('HANDSHAKE_MALFORMED', messageFor('HANDSHAKE_MALFORMED', `"${what}" came out of turn`));
}

// SPDX-License-Identifier: MPL-2.0
import { type ErrorCode, isErrorCode, rowOf } from './error-table.ts';

export type { Retry } from './error-row.ts';
export type { ErrorCode } from './error-table.ts';
export { isErrorCode };

/** Data beside code and message. `remote`: the peer raised the error. `resumable`: the same command resumes. */
export type ErrorDetail = Readonly<Record<string, unknown>> & {
  readonly remote?: boolean;
  readonly resumable?: boolean;
};

/**
 * Every failure that a caller can act on.
 *
 * `message` is one or two sentences for a person: what happened and what to do next. `cause` holds the original.
 * Neither ever contains secrets.
 */
export class KeibiError extends Error {
  readonly code: ErrorCode;
  readonly detail: ErrorDetail | undefined;

  constructor(
    code: ErrorCode,
    message: string = messageFor(code),
    options: { cause?: unknown; detail?: ErrorDetail } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'KeibiError';
    this.code = code;
    this.detail = options.detail;
  }

  /**
   * Converts anything thrown. A KeibiError stays as it is, an error with one of our codes (from native) keeps its code, an aborted operation
   * becomes CANCELLED, and the rest becomes `fallback`. If that is INTERNAL, a lack of descriptors or of a module gets a code of its own
   * instead, because it is not a bug. The original is the cause.
   */
  static from(reason: unknown, fallback: ErrorCode): KeibiError {
    if (reason instanceof KeibiError) return reason;
    const code = codeIn(reason) ?? (fallback === 'INTERNAL' ? lackIn(reason) : undefined) ?? fallback;
    const about = EXPLAINED.includes(code) ? aboutOf(reason, code) : undefined;
    return new KeibiError(code, messageFor(code, about), { cause: reason });
  }
}

function codeIn(reason: unknown): ErrorCode | undefined {
  if (!(reason instanceof Error)) return undefined;
  if (reason.name === 'AbortError') return 'CANCELLED';
  return 'code' in reason && typeof reason.code === 'string' && isErrorCode(reason.code) ? reason.code : undefined;
}

/** Errors of this program or system. Their texts quote the thrown error, and from a peer they would wrongly blame this side. */
const EXPLAINED: readonly ErrorCode[] = ['INTERNAL', 'SYSTEM_LIMIT', 'PROGRAM_INCOMPLETE', 'PLATFORM_UNSUPPORTED'];

function aboutOf(reason: unknown, code: ErrorCode): string {
  return code !== 'INTERNAL' && reason instanceof Error ? reason.message : String(reason);
}

/** The code for a limit of the system or a missing module, if that caused the error. */
function lackIn(reason: unknown): ErrorCode | undefined {
  if (!(reason instanceof Error)) return undefined;
  const { code } = reason as { code?: unknown };
  if (code === 'EMFILE' || code === 'ENFILE') return 'SYSTEM_LIMIT';
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return 'PROGRAM_INCOMPLETE';
  return lackIn(reason.cause);
}

/** FILE_NEWER for a file, named by its path, in a format that only later versions know. It must not be replaced. */
export function fileNewer(file: string): KeibiError {
  const text = `${file} was written by a newer KeibiDrop, so it stays as it is. Update this one, then try again.`;
  return new KeibiError('FILE_NEWER', text);
}

const WIRE_CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/** The code of an error that a peer reported; PEER_FAILED if it is unknown here or would blame this side. */
export function peerCodeOf(code: string): ErrorCode {
  return isErrorCode(code) && !EXPLAINED.includes(code) ? code : 'PEER_FAILED';
}

/** The text of an error that a peer reported under `code`. */
export function peerMessageFor(code: string): string {
  const known = peerCodeOf(code);
  return known === 'PEER_FAILED' && WIRE_CODE.test(code) ? messageFor(known, code) : messageFor(known);
}

/** An error that a peer reported under `code`, which may be any text. */
export function peerError(code: string, options: { cause?: unknown } = {}): KeibiError {
  return new KeibiError(peerCodeOf(code), peerMessageFor(code), { ...options, detail: { remote: true } });
}

/** Whether the details of a failed call have the form of an error code, known or not: `SESSION_LOST`, but not `Connection dropped`. */
export function isWireCode(details: string): boolean {
  return isErrorCode(details) || (WIRE_CODE.test(details) && details.includes('_'));
}

/**
 * The text for a code: what happened, and what to do next.
 *
 * @param about  subject to put in front: a file name, an entry, the reason of a bug
 */
export function messageFor(code: ErrorCode, about?: string): string {
  const { text } = rowOf(code);
  return about === undefined ? text : `${about}: ${text}`;
}

/** The exit code of a command that ended with `error`: the table's, or 5 if the same command can resume (docs/cli.md). */
export function exitCodeOf(error: KeibiError): number {
  const { exit } = rowOf(error.code);
  return exit === 1 && error.detail?.resumable === true ? 5 : exit;
}

/** The gRPC status for a code on the control plane. */
export function grpcStatusOf(code: ErrorCode): number {
  return rowOf(code).grpc;
}

/** Whether a retry can help: never, later by the user, or at once over a new connection. */
export function retryOf(code: ErrorCode): 'never' | 'later' | 'reconnect' {
  return rowOf(code).retry;
}

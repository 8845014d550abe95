// SPDX-License-Identifier: MPL-2.0
import { type ErrorCode, isErrorCode, rowOf } from './error-table.ts';

export type { ErrorCode, Retry } from './error-table.ts';
export { isErrorCode };

/** What an error says beside its code and message. `remote`: the peer raised it. `resumable`: the same command goes on. */
export type ErrorDetail = Readonly<Record<string, unknown>> & {
  readonly remote?: boolean;
  readonly resumable?: boolean;
};

/**
 * Every failure a caller can act on.
 *
 * `message` is one or two sentences for a person: what happened and what to do next. `cause` holds the original.
 * Secrets never enter either.
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
   * Makes a KeibiError of anything thrown: one stays as it is, an error that carries one of our codes (native's do) keeps the code,
   * an aborted operation is CANCELLED, the rest is `fallback`. The original is the cause.
   */
  static from(reason: unknown, fallback: ErrorCode): KeibiError {
    if (reason instanceof KeibiError) return reason;
    const code = codeIn(reason) ?? fallback;
    const about = code === 'INTERNAL' ? String(reason) : undefined;
    return new KeibiError(code, messageFor(code, about), { cause: reason });
  }
}

function codeIn(reason: unknown): ErrorCode | undefined {
  if (!(reason instanceof Error)) return undefined;
  if (reason.name === 'AbortError') return 'CANCELLED';
  return 'code' in reason && typeof reason.code === 'string' && isErrorCode(reason.code) ? reason.code : undefined;
}

/**
 * The text people read for a code: what happened, and what to do next.
 *
 * @param about  what it concerns, put in front: a file's name, an entry, the reason of a bug
 */
export function messageFor(code: ErrorCode, about?: string): string {
  const { text } = rowOf(code);
  return about === undefined ? text : `${about}: ${text}`;
}

/** The exit code of a command that ended with `error`: the table's, or 5 where the same command would go on (DESIGN 7). */
export function exitCodeOf(error: KeibiError): number {
  const { exit } = rowOf(error.code);
  return exit === 1 && error.detail?.resumable === true ? 5 : exit;
}

/** The gRPC status under which a code crosses the control plane. */
export function grpcStatusOf(code: ErrorCode): number {
  return rowOf(code).grpc;
}

/** Whether trying again can help: never as things are, later by hand, or at once over a new connection. */
export function retryOf(code: ErrorCode): 'never' | 'later' | 'reconnect' {
  return rowOf(code).retry;
}

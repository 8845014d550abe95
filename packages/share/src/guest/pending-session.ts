// SPDX-License-Identifier: MPL-2.0
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { GuestSession } from './guest-session.ts';

/** The current session, or the next one. */
export interface PendingSession {
  readonly up: Promise<GuestSession>;
  resolve(session: GuestSession): void;
  reject(reason: unknown): void;
  /** Resolves when that session has ended and the next turn exists. */
  readonly over: Promise<void>;
  end(): void;
}

/** A turn whose session is still to come. */
export function createPendingSession(): PendingSession {
  let resolve: PendingSession['resolve'] = () => {};
  let reject: PendingSession['reject'] = () => {};
  let end: PendingSession['end'] = () => {};
  const up = new Promise<GuestSession>((onUp, onFailure) => {
    resolve = onUp;
    reject = onFailure;
  });
  up.catch(() => {});
  const over = new Promise<void>((onOver) => {
    end = onOver;
  });
  return { up, resolve, reject, over, end };
}

/** Whether the turn's session has come or failed. */
export async function isSettled(up: Promise<unknown>): Promise<boolean> {
  const none = Symbol('none');
  return (await Promise.race([up, Promise.resolve(none)])) !== none;
}

/** Waits for `promise` or an abort. @throws `signal.reason` on abort */
export async function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The messages of a call, with backpressure; an abort, or leaving the loop, cancels it. */
export async function* messagesOf<Message>(
  call: ClientReadableStream<Message>,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  const onAbort = () => call.cancel();
  call.on('error', () => {});
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    yield* call as AsyncIterable<Message>;
  } finally {
    signal.removeEventListener('abort', onAbort);
    call.cancel();
  }
}

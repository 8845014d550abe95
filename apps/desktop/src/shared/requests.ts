// SPDX-License-Identifier: MPL-2.0
import type { Streaming, Unary } from '@keibidrop/daemon/local';
import type { Intent, Preferences } from './api.ts';

/**
 * All requests from the page to the main process, defined only here. Main implements `{ [K in keyof Requests]: Handler<K> }`,
 * so a request without a handler does not compile. The preload passes requests on.
 */
export interface Requests {
  /** One call to the daemon. `call` is the page's number for it, used to cancel it. */
  'daemon.call': { args: { call: number; method: Unary; request: object }; result: unknown };
  'daemon.cancel': { args: { call: number }; result: null };
  'shell.pick': { args: { what: 'files' | 'folders' }; result: string[] };
  'shell.pickFolder': { args: { start: string | null }; result: string | null };
  'shell.reveal': { args: { path: string }; result: null };
  'shell.restartDaemon': { args: Record<string, never>; result: null };
  'shell.preferences': { args: Record<string, never>; result: Preferences };
  'shell.changePreferences': { args: Partial<Preferences>; result: Preferences };
}

export type RequestName = keyof Requests;

/** An ApiError in transit between processes, where errors lose their class. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** How a request ended. A rejected promise would lose the error code in transit. */
export type Outcome<T> = { readonly result: T } | { readonly error: Failure };

/** The object that the preload gives the page as `window.keibidrop`: only functions, no channel, nothing of Electron. */
export interface Bridge {
  request<K extends RequestName>(name: K, args: Requests[K]['args']): Promise<Outcome<Requests[K]['result']>>;
  /**
   * Calls a streaming method of the daemon; replies arrive in batches. The returned function cancels the call.
   *
   * @param onEnd  called once, unless the call was cancelled
   */
  subscribe(
    method: Streaming,
    request: object,
    onReplies: (replies: unknown[]) => void,
    onEnd: (error: Failure | undefined) => void,
  ): () => void;
  /** Path of a dropped or picked file; '' if it is not in a file system. */
  pathOf(file: File): string;
  /** Earlier intents are delivered first. Returns a function that removes the listener. */
  onIntent(listener: (intent: Intent) => void): () => void;
}

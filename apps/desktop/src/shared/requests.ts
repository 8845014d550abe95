// SPDX-License-Identifier: MPL-2.0
import type { Streaming, Unary } from '@keibidrop/peer/local';
import type { Intent, Preferences } from './api.ts';

/**
 * Everything that the page can ask of the main process. Stated here alone: the preload passes it on, main implements
 * `{ [K in keyof Requests]: Handler<K> }`, so that a request nobody answers does not compile.
 */
export interface Requests {
  /** One call of the daemon. `call` is the page's name for it, by which it can be cancelled. */
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

/** An ApiError on its way between processes, which keep no class of an error. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** How a request ended. A promise that rejects would lose the code on its way. */
export type Outcome<T> = { readonly result: T } | { readonly error: Failure };

/** What the preload gives the page as `window.keibidrop`: functions, no channel and nothing of Electron's. */
export interface Bridge {
  request<K extends RequestName>(name: K, args: Requests[K]['args']): Promise<Outcome<Requests[K]['result']>>;
  /**
   * A call of the daemon with many replies, which come some at a time.
   *
   * @param onEnd  called once, unless the returned function was called before: it ends the call
   */
  subscribe(
    method: Streaming,
    request: object,
    onReplies: (replies: unknown[]) => void,
    onEnd: (error: Failure | undefined) => void,
  ): () => void;
  /** Where a dropped or picked file stands; '' for one that is in no file system. */
  pathOf(file: File): string;
  /** Those that came before anybody listened are told first. Returns what ends it. */
  onIntent(listener: (intent: Intent) => void): () => void;
}

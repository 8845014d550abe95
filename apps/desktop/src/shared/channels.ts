// SPDX-License-Identifier: MPL-2.0
import type { Streaming } from '@keibidrop/peer/local';
import type { Failure } from './requests.ts';

/** The names under which preload and main hear each other. The page knows none of them. */
export const CHANNELS = {
  /** To main, answered: `(name, args)` of Requests. */
  request: 'keibidrop:request',
  /** To main: Subscription. */
  subscribe: 'keibidrop:subscribe',
  /** To main: the id of a subscription that nobody wants any more. */
  unsubscribe: 'keibidrop:unsubscribe',
  /** To main: somebody listens to intents. */
  listening: 'keibidrop:listening',
  /** To the page: Told. */
  told: 'keibidrop:told',
  /** To the page: Intent. */
  intent: 'keibidrop:intent',
} as const;

export interface Subscription {
  readonly id: number;
  readonly method: Streaming;
  readonly request: object;
}

/** What a subscription brings: replies, or its end. */
export type Told =
  | { readonly id: number; readonly replies: unknown[] }
  | { readonly id: number; readonly end: Failure | null };

// SPDX-License-Identifier: MPL-2.0
import type { Streaming } from '@keibidrop/daemon/local';
import type { Failure } from './requests.ts';

/** Channel names between preload and main. The page knows none of them. */
export const CHANNELS = {
  /** To main, with a reply: `(name, args)` of Requests. */
  request: 'keibidrop:request',
  /** To main: Subscription. */
  subscribe: 'keibidrop:subscribe',
  /** To main: id of a subscription to cancel. */
  unsubscribe: 'keibidrop:unsubscribe',
  /** To main: the page accepts intents. */
  listening: 'keibidrop:listening',
  /** To the page: replies of a subscription, or its end. */
  replies: 'keibidrop:replies',
  /** To the page: Intent. */
  intent: 'keibidrop:intent',
} as const;

export interface Subscription {
  readonly id: number;
  readonly method: Streaming;
  readonly request: object;
}

/** A message for a subscription: replies, or its end. */
export type SubscriptionMessage =
  | { readonly id: number; readonly replies: unknown[] }
  | { readonly id: number; readonly end: Failure | null };

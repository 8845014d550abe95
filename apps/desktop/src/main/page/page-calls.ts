// SPDX-License-Identifier: MPL-2.0
import { ApiError } from '../../shared/api.ts';
import { CHANNELS, type Subscription, type SubscriptionMessage } from '../../shared/channels.ts';
import type { DaemonLink } from '../daemon/daemon-link.ts';
import { failureOf, type Handlers } from './ipc.ts';

const MOST_SUBSCRIPTIONS = 64;

/** Forwards the page's calls to the daemon, and the replies back. */
export class PageCalls {
  readonly #link: DaemonLink;
  readonly #send: (channel: string, value: unknown) => void;
  readonly #calls = new Map<number, AbortController>();
  readonly #subscriptions = new Map<number, AbortController>();

  /** @param send  sends to the page; does nothing without a page */
  constructor(link: DaemonLink, send: (channel: string, value: unknown) => void) {
    this.#link = link;
    this.#send = send;
  }

  get handlers(): Pick<Handlers, 'daemon.call' | 'daemon.cancel'> {
    return {
      'daemon.call': async ({ call, method, request }) => {
        const running = new AbortController();
        this.#calls.set(call, running);
        try {
          const client = await this.#link.client();
          return await client.call(method, request, { signal: running.signal });
        } finally {
          this.#calls.delete(call);
        }
      },
      'daemon.cancel': ({ call }) => {
        this.#calls.get(call)?.abort(new ApiError('CANCELLED', 'Cancelled.'));
        return null;
      },
    };
  }

  async subscribe({ id, method, request }: Subscription): Promise<void> {
    const running = new AbortController();
    const report = (value: SubscriptionMessage) => {
      // A cancelled subscription gets no more replies.
      if (this.#subscriptions.get(id) === running) this.#send(CHANNELS.replies, value);
    };
    if (this.#subscriptions.size >= MOST_SUBSCRIPTIONS) {
      this.#send(CHANNELS.replies, { id, end: { code: 'INTERNAL', message: 'The page has too many subscriptions.' } });
      return;
    }
    this.#subscriptions.set(id, running);
    try {
      const client = await this.#link.client();
      await client.stream(method, request, { signal: running.signal, onReplies: (replies) => report({ id, replies }) });
      report({ id, end: null });
    } catch (reason) {
      report({ id, end: failureOf(reason) });
    } finally {
      if (this.#subscriptions.get(id) === running) this.#subscriptions.delete(id);
    }
  }

  unsubscribe(id: number): void {
    const running = this.#subscriptions.get(id);
    this.#subscriptions.delete(id);
    running?.abort(new ApiError('CANCELLED', 'Cancelled.'));
  }

  /** The page is gone: cancel all its calls. */
  forget(): void {
    for (const id of [...this.#subscriptions.keys()]) this.unsubscribe(id);
    for (const running of this.#calls.values()) running.abort(new ApiError('CANCELLED', 'The page is gone.'));
  }
}

// SPDX-License-Identifier: MPL-2.0

import type { local } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';

/** Limit of a client's pending events; one more ends its stream. */
const MAX_WAITING = 4096;
/**
 * Above this number of pending events a client gets no progress until it has caught up. The next progress event supersedes a
 * skipped one.
 */
const MAX_BEFORE_PROGRESS = 16;

/** One kind of event with its fields. */
export type Happened = NonNullable<local.Event['happened']>;

/** An event before it has a sequence number. */
export interface Emitted {
  happened: Happened;
  /** The name of the transfer's contact. */
  contact?: string | undefined;
  /** The session, if a send serves several. */
  receiver?: number | undefined;
}

/** The events that one client wants. */
export interface Wanted {
  progress: boolean;
  files: boolean;
}

/** One sequence of events for all clients. */
export class EventStream {
  readonly #clients = new Set<Subscription>();
  #sequence = 0;

  /** The number of listening clients. */
  get clients(): number {
    return this.#clients.size;
  }

  /** @param transfer  its number, or 0 for events of no transfer */
  emit(transfer: number, { happened, contact, receiver }: Emitted): void {
    this.#sequence++;
    if (this.#clients.size === 0) return;
    const event = { sequence: this.#sequence, transfer, contact, receiver, happened };
    for (const client of this.#clients) client.offer(event);
  }

  /**
   * Yields `present`, then every later event, until `signal`.
   *
   * @param present  the present state; called at once, so that no event falls in between
   * @throws EVENTS_LOST if the client reads too slowly; `signal.reason`
   */
  async *watch(
    present: () => readonly { transfer: number; happened: Happened }[],
    wanted: Wanted,
    signal: AbortSignal,
  ): AsyncGenerator<local.Event> {
    signal.throwIfAborted();
    const sequence = this.#sequence;
    const subscription = new Subscription(wanted);
    const onAbort = () => subscription.end(signal.reason);
    this.#clients.add(subscription);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for (const one of present()) yield { sequence, ...one };
      yield { sequence, transfer: 0, happened: { $case: 'present', value: {} } };
      for (;;) yield await subscription.next();
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#clients.delete(subscription);
    }
  }

  /** Ends every stream with `reason`. */
  close(reason: unknown): void {
    for (const client of this.#clients) client.end(reason);
  }
}

class Subscription {
  readonly #wanted: Wanted;
  #waiting: local.Event[] = [];
  #ended: { reason: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  offer(event: local.Event): void {
    if (this.#ended !== undefined) return;
    const name = event.happened?.$case;
    if (name === 'progress' && (!this.#wanted.progress || this.#waiting.length >= MAX_BEFORE_PROGRESS)) return;
    if (name === 'file' && !this.#wanted.files) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#waiting = [];
      this.end(new KeibiError('EVENTS_LOST'));
      return;
    }
    this.#waiting.push(event);
    this.#wake();
  }

  end(reason: unknown): void {
    this.#ended ??= { reason };
    this.#wake();
  }

  /** @throws the reason of the end, after all earlier events */
  async next(): Promise<local.Event> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) return event;
      if (this.#ended !== undefined) throw this.#ended.reason;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

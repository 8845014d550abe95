// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '../errors.ts';

/** A bounded first-in-first-out queue with one reader. Items queued before the end can still be taken after it. */
export class Inbox<T> {
  readonly #capacity: number;
  readonly #items: T[] = [];
  #end: KeibiError | undefined;
  #wake: (() => void) | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** @throws RENDEZVOUS_BUSY if the queue is full; the reason of the end once it has ended */
  put(item: T): void {
    if (this.#end !== undefined) throw this.#end;
    if (this.#items.length >= this.#capacity) {
      throw new KeibiError('RENDEZVOUS_BUSY', 'Messages arrive faster than the other side reads them.');
    }
    this.#items.push(item);
    this.#wake?.();
  }

  /** Takes the next item, waiting for one. @throws the reason of the end; `signal.reason` on abort */
  async take({ signal }: { signal: AbortSignal }): Promise<T> {
    signal.throwIfAborted();
    while (this.#items.length === 0) {
      if (this.#end !== undefined) throw this.#end;
      await this.#change(signal);
      signal.throwIfAborted();
    }
    return this.#items.shift() as T;
  }

  /** Ends the queue for new items. Only the first reason counts. */
  end(reason: KeibiError): void {
    this.#end ??= reason;
    this.#wake?.();
  }

  /** Drops all queued items. */
  clear(): void {
    this.#items.length = 0;
  }

  #change(signal: AbortSignal): Promise<void> {
    if (this.#wake !== undefined) throw new KeibiError('INTERNAL', 'bug: two readers of one inbox');
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        this.#wake = undefined;
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done);
    });
  }
}

// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from './errors.ts';

/** A bounded queue with one reader: what is put first is taken first, and what was put before the end is still taken after it. */
export class Inbox<T> {
  readonly #capacity: number;
  readonly #items: T[] = [];
  #end: KeibiError | undefined;
  #wake: (() => void) | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** @throws RENDEZVOUS_BUSY if the reader is that far behind; the reason of the end after the end */
  put(item: T): void {
    if (this.#end !== undefined) throw this.#end;
    if (this.#items.length >= this.#capacity) {
      throw new KeibiError('RENDEZVOUS_BUSY', 'More was sent than the other side has taken.');
    }
    this.#items.push(item);
    this.#wake?.();
  }

  /** The next item, once there is one. @throws the reason of the end; `signal.reason` on abort */
  async take({ signal }: { signal: AbortSignal }): Promise<T> {
    signal.throwIfAborted();
    while (this.#items.length === 0) {
      if (this.#end !== undefined) throw this.#end;
      await this.#change(signal);
      signal.throwIfAborted();
    }
    return this.#items.shift() as T;
  }

  /** Nothing more will be put. The first reason stands. */
  end(reason: KeibiError): void {
    this.#end ??= reason;
    this.#wake?.();
  }

  /** Drops what was not taken. */
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

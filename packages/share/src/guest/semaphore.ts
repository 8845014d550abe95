// SPDX-License-Identifier: MPL-2.0

/** Limits how many calls work at a time; the others wait in order of arrival. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  /** @throws what `work` does; `signal.reason` on abort while it waits */
  async run<T>({ signal }: { signal: AbortSignal }, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    let onAbort = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push(resolve);
        onAbort = () => {
          const at = this.#waiting.indexOf(resolve);
          // Its turn has already come: it uses the slot, and `work` checks the signal.
          if (at < 0) return;
          this.#waiting.splice(at, 1);
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

// SPDX-License-Identifier: MPL-2.0

/** Seconds of a transfer from its first session to its end, without the time in which the user is asked. */
export class TransferClock {
  #started: number | undefined;

  /** A session has started. Later sessions of the same run keep counting from the first. */
  begin(): void {
    this.#started ??= performance.now();
  }

  /** 0 before begin(). */
  get seconds(): number {
    return this.#started === undefined ? 0 : (performance.now() - this.#started) / 1000;
  }

  /** Wraps a question, so that the time until its answer does not count. */
  stoppedWhile<Of extends unknown[], Answer>(ask: (...of: Of) => Promise<Answer>): (...of: Of) => Promise<Answer> {
    return async (...of) => {
      const from = performance.now();
      try {
        return await ask(...of);
      } finally {
        if (this.#started !== undefined) this.#started += performance.now() - from;
      }
    };
  }
}

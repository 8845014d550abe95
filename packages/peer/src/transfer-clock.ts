// SPDX-License-Identifier: MPL-2.0

/** How long a transfer took, without the time in which a person was thinking. */
export class TransferClock {
  #started = performance.now();

  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  /** The same question, whose time does not count. */
  stoppedWhile<Of extends unknown[], Answer>(ask: (...of: Of) => Promise<Answer>): (...of: Of) => Promise<Answer> {
    return async (...of) => {
      const from = performance.now();
      try {
        return await ask(...of);
      } finally {
        this.#started += performance.now() - from;
      }
    };
  }
}

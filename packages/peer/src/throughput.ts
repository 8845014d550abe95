// SPDX-License-Identifier: MPL-2.0

const WINDOW_MS = 3000;

/** Bytes per second over the last few seconds. */
export class Throughput {
  readonly #samples: { at: number; bytes: number }[] = [];

  /** @param bytes  counted from the start; what was there before counts as no throughput if it is in the first sample */
  add(bytes: number, at: number = performance.now()): number {
    this.#samples.push({ at, bytes });
    while (this.#samples.length > 2 && (this.#samples[1]?.at ?? at) < at - WINDOW_MS) this.#samples.shift();
    const first = this.#samples[0];
    if (first === undefined || at <= first.at) return 0;
    return Math.max(0, Math.round(((bytes - first.bytes) * 1000) / (at - first.at)));
  }
}

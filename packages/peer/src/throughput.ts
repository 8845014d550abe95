// SPDX-License-Identifier: MPL-2.0

const WINDOW_MS = 3000;
/** Slow transfers advance in chunks: the window spans at least this many times the last gap between two chunks. */
const WINDOW_GAPS = 3;

/** Bytes per second over the last few seconds. */
export class Throughput {
  /** Times and values of the count's changes; the first is where counting began. */
  readonly #changes: { at: number; bytes: number }[] = [];

  /** @param bytes  counted from the start; bytes in the first sample, as from an earlier run, count as no throughput */
  add(bytes: number, at: number = performance.now()): number {
    const changes = this.#changes;
    if (changes.at(-1)?.bytes !== bytes) changes.push({ at, bytes });
    const last = changes.at(-1)?.at ?? at;
    const gap = last - (changes.at(-2)?.at ?? last);
    const from = at - Math.max(WINDOW_MS, WINDOW_GAPS * gap);
    while (changes.length > 1 && (changes[0]?.at ?? at) < from) changes.shift();
    const first = changes[0];
    // Until the next change is overdue, a slowdown cannot be detected.
    const until = Math.max(last, at - gap);
    if (first === undefined || until <= first.at) return 0;
    return Math.max(0, Math.round(((bytes - first.bytes) * 1000) / (until - first.at)));
  }
}

// SPDX-License-Identifier: MPL-2.0

const WINDOW_MS = 3000;
/** A slow transfer's bytes come a chunk at a time: the window is never shorter than so many times the last gap between two. */
const WINDOW_GAPS = 3;

/** Bytes per second over the last few seconds. */
export class Throughput {
  /** When the count changed, and to what; the first is where counting began. */
  readonly #changes: { at: number; bytes: number }[] = [];

  /** @param bytes  counted from the start; what was there before counts as no throughput if it is in the first sample */
  add(bytes: number, at: number = performance.now()): number {
    const changes = this.#changes;
    if (changes.at(-1)?.bytes !== bytes) changes.push({ at, bytes });
    const last = changes.at(-1)?.at ?? at;
    const gap = last - (changes.at(-2)?.at ?? last);
    const from = at - Math.max(WINDOW_MS, WINDOW_GAPS * gap);
    while (changes.length > 1 && (changes[0]?.at ?? at) < from) changes.shift();
    const first = changes[0];
    // Until the next change is overdue, nobody can tell that it slows down.
    const until = Math.max(last, at - gap);
    if (first === undefined || until <= first.at) return 0;
    return Math.max(0, Math.round(((bytes - first.bytes) * 1000) / (until - first.at)));
  }
}

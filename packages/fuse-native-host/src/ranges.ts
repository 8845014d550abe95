// SPDX-License-Identifier: MPL-2.0

export interface Range {
  start: number;
  end: number;
}

/** Parts of a file: ascending, apart, none empty. */
export class Ranges {
  #list: Range[] = [];

  get count(): number {
    return this.#list.length;
  }

  get bytes(): number {
    return this.#list.reduce((sum, { start, end }) => sum + end - start, 0);
  }

  list(): Range[] {
    return [...this.#list];
  }

  add(start: number, end: number): void {
    if (start >= end) return;
    const first = this.#firstEndingFrom(start);
    let after = first;
    let joined = { start, end };
    for (let next = this.#list[after]; next !== undefined && next.start <= end; next = this.#list[++after])
      joined = { start: Math.min(joined.start, next.start), end: Math.max(joined.end, next.end) };
    this.#list.splice(first, after - first, joined);
  }

  /** Nothing from `size` on. */
  cut(size: number): void {
    this.#list = this.#list
      .filter(({ start }) => start < size)
      .map(({ start, end }) => ({ start, end: Math.min(end, size) }));
  }

  clear(): void {
    this.#list = [];
  }

  /** The parts of `start` to `end` that are in no range. */
  holes(start: number, end: number): Range[] {
    const found: Range[] = [];
    let at = start;
    for (let i = this.#firstEndingFrom(start); at < end; i++) {
      const next = this.#list[i];
      const until = Math.min(next?.start ?? end, end);
      if (at < until) found.push({ start: at, end: until });
      at = Math.max(at, next?.end ?? end);
    }
    return found;
  }

  /** The index of the first that ends at `offset` or behind it. */
  #firstEndingFrom(offset: number): number {
    let low = 0;
    for (let high = this.#list.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.#list[middle] as Range).end < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

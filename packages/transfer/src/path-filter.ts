// SPDX-License-Identifier: MPL-2.0
import { Buffer } from 'node:buffer';
import type { Page } from '@keibidrop/native';
import { scanNames, TOP } from '@keibidrop/protocol';

/** Finds the entries in whose paths a text stands, in any case: page by page, in order. Of each entry its name alone is looked at, if that says enough. */
export class PathFilter {
  readonly #text: string;
  /** What stands behind its last slash, with which a name has to begin; undefined: it has no slash. */
  readonly #begins: string | undefined;
  readonly #folderOf: (number: number) => string;
  /** A bit per entry: a folder in whose path it stands, and so in every path below. */
  #within = new Uint8Array(1024);

  /** @param folderOf  the path of a folder and a slash */
  constructor(text: string, folderOf: (number: number) => string) {
    this.#text = text.toLowerCase();
    const slash = this.#text.lastIndexOf('/');
    this.#begins = slash < 0 ? undefined : this.#text.slice(slash + 1);
    this.#folderOf = folderOf;
  }

  /** Adds the numbers of those of the next page to `found`. */
  take({ first, count, bytes }: Page, found: number[]): void {
    this.#makeRoom(first + count);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    scanNames(bytes, (i, type, parent, from, to) => {
      const inFolder = parent !== TOP && ((this.#within[parent >> 3] ?? 0) & (1 << (parent & 7))) !== 0;
      if (!inFolder && !this.#isIn(text.toString('utf8', from, to).toLowerCase(), parent)) return;
      const number = first + i;
      found.push(number);
      if (type === 'directory') this.#within[number >> 3] = (this.#within[number >> 3] ?? 0) | (1 << (number & 7));
    });
  }

  #isIn(name: string, parent: number): boolean {
    if (this.#begins === undefined) return name.includes(this.#text);
    return name.startsWith(this.#begins) && (this.#folderOf(parent).toLowerCase() + name).includes(this.#text);
  }

  #makeRoom(entries: number): void {
    const bytes = (entries + 7) >> 3;
    if (bytes <= this.#within.length) return;
    const grown = new Uint8Array(Math.max(bytes, 2 * this.#within.length));
    grown.set(this.#within);
    this.#within = grown;
  }
}

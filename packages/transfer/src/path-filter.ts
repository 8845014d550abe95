// SPDX-License-Identifier: MPL-2.0
import { Buffer } from 'node:buffer';
import type { Page } from '@keibidrop/native';
import { scanNames, TOP } from '@keibidrop/protocol';

/** Finds the entries whose path contains a text, case-insensitively, page by page in order. Builds a full path only if the name is not enough. */
export class PathFilter {
  readonly #text: string;
  /** The part of the text after its last slash, with which a name must begin; undefined without a slash. */
  readonly #begins: string | undefined;
  readonly #folderOf: (number: number) => string;
  /** One bit per entry: folders whose path contains the text. All paths below them match too. */
  #within = new Uint8Array(1024);

  /** @param folderOf  gives the path of a folder with a trailing slash */
  constructor(text: string, folderOf: (number: number) => string) {
    this.#text = text.toLowerCase();
    const slash = this.#text.lastIndexOf('/');
    this.#begins = slash < 0 ? undefined : this.#text.slice(slash + 1);
    this.#folderOf = folderOf;
  }

  /** Appends the matching entry numbers of the next page to `found`. */
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

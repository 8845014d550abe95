// SPDX-License-Identifier: MPL-2.0
import { MAX_NAME_BYTES } from '../limits.ts';
import { halfSipHash } from './name-hash.ts';
import { foldName } from './remote-path.ts';

const BLOCK_BYTES = 2 ** 20;
/** Slots of the table per entry of its capacity. */
const SLOTS_AN_ENTRY = 2;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The names of a manifest's entries, in the order added, each at most once per parent.
 *
 * A million names of 22 bytes take 50 MB outside the JavaScript heap, for any shape of tree. As strings in one set they take 120 MB of it;
 * in one set per directory 70 MB, and 200 MB more if each directory has one entry. So names are bytes in blocks, and the set is an
 * open-addressed table of entry numbers. Equality is exact; the hash is keyed, so that a sender cannot prepare collisions.
 */
export class NameTable {
  readonly #foldNames: boolean;
  readonly #key = crypto.getRandomValues(new Uint32Array(2));
  /** Each name after its length byte; no name spans two blocks. */
  readonly #blocks: Uint8Array[] = [];
  #usedBytes = BLOCK_BYTES;
  /** Position of each name: block number times `BLOCK_BYTES` plus the offset in the block, at most 2^22 * 256. */
  #places = new Uint32Array(1024);
  #parents = new Uint32Array(1024);
  #hashes = new Uint32Array(1024);
  /** Each slot is an entry's number plus one, or 0. Their number is a power of two; collisions use linear probing. */
  #slots = new Uint32Array(1024 * SLOTS_AN_ENTRY);
  #entries = 0;

  constructor(options: { foldNames: boolean }) {
    this.#foldNames = options.foldNames;
  }

  /**
   * Adds the next entry's name, of at most `MAX_NAME_BYTES`.
   *
   * @returns undefined, or the number of that parent's entry with the same name; nothing is added then
   */
  add(parent: number, name: string): number | undefined {
    if (this.#entries === this.#places.length) this.#grow();
    if (this.#usedBytes + 1 + MAX_NAME_BYTES > BLOCK_BYTES) this.#addBlock();
    const block = this.#blocks[this.#blocks.length - 1] as Uint8Array;
    const start = this.#usedBytes + 1;
    const { written: length } = encoder.encodeInto(name, block.subarray(start));
    const hash = this.#foldNames
      ? this.#foldedHash(parent, name)
      : halfSipHash(this.#key, parent, block, start, length);

    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let taken = this.#slots[slot]; taken !== 0; taken = this.#slots[slot]) {
      const other = (taken as number) - 1;
      if (this.#hashes[other] === hash && this.#parents[other] === parent && this.#same(other, name)) return other;
      slot = (slot + 1) & mask;
    }

    block[this.#usedBytes] = length;
    this.#places[this.#entries] = (this.#blocks.length - 1) * BLOCK_BYTES + this.#usedBytes;
    this.#parents[this.#entries] = parent;
    this.#hashes[this.#entries] = hash;
    this.#usedBytes += 1 + length;
    this.#slots[slot] = ++this.#entries;
    return undefined;
  }

  /** The parent given to `add`. */
  parentOf(entry: number): number {
    return this.#parents[entry] as number;
  }

  nameOf(entry: number): string {
    const place = this.#places[entry] as number;
    const block = this.#blocks[Math.floor(place / BLOCK_BYTES)] as Uint8Array;
    const start = (place % BLOCK_BYTES) + 1;
    return decoder.decode(block.subarray(start, start + (block[start - 1] as number)));
  }

  #same(other: number, name: string): boolean {
    const otherName = this.nameOf(other);
    return otherName === name || (this.#foldNames && foldName(otherName) === foldName(name));
  }

  #foldedHash(parent: number, name: string): number {
    const folded = encoder.encode(foldName(name));
    return halfSipHash(this.#key, parent, folded, 0, folded.length);
  }

  #addBlock(): void {
    this.#blocks.push(new Uint8Array(BLOCK_BYTES));
    this.#usedBytes = 0;
  }

  #grow(): void {
    const capacity = 2 * this.#places.length;
    this.#places = grown(this.#places, capacity);
    this.#parents = grown(this.#parents, capacity);
    this.#hashes = grown(this.#hashes, capacity);
    this.#slots = new Uint32Array(capacity * SLOTS_AN_ENTRY);
    const mask = this.#slots.length - 1;
    for (let entry = 0; entry < this.#entries; entry++) {
      let slot = (this.#hashes[entry] as number) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = entry + 1;
    }
  }
}

function grown(from: Uint32Array, capacity: number): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(capacity);
  to.set(from);
  return to;
}

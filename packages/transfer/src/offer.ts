// SPDX-License-Identifier: MPL-2.0
import type { Page } from '@keibidrop/native';
import { decodePage, type Entry, KeibiError, MAX_MANIFEST_BYTES, ManifestGuard, TOP } from '@keibidrop/protocol';
import { outOfTurn } from './outcome.ts';

/** Totals of an offer, as far as received. */
export interface OfferTotals {
  files: number;
  directories: number;
  symlinks: number;
  /** Sum over files of known size. */
  bytes: number;
  /** Top-level names, the first MAX_NAMES of them. */
  names: string[];
  /** Total number of top-level entries. */
  nameCount: number;
  /** The offer is standard input: one file of unknown size. */
  stream: boolean;
}

const MAX_NAMES = 20;

/** Checks and counts the pages of an offer as they arrive. */
export class Offer {
  readonly totals: OfferTotals = {
    files: 0,
    directories: 0,
    symlinks: 0,
    bytes: 0,
    names: [],
    nameCount: 0,
    stream: false,
  };
  readonly #guard: ManifestGuard;
  #bytes = 0;

  /** @param options.foldNames  the destination ignores case in names */
  constructor(options: { foldNames: boolean }) {
    this.#guard = new ManifestGuard(options);
  }

  /** @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED naming the entry; HANDSHAKE_MALFORMED for a page out of turn */
  add({ first, count, bytes }: Page): void {
    if (first !== this.#guard.entries) throw outOfTurn('page');
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_MANIFEST_BYTES) throw new KeibiError('TRANSFER_LIMIT_EXCEEDED');
    const entries = decodePage(bytes, first);
    if (entries.length !== count || count === 0) throw outOfTurn('page');
    this.#guard.addPage(entries);
    for (const entry of entries) this.#count(entry);
  }

  /** Checks the sender's final counts. @throws HANDSHAKE_MALFORMED if they differ */
  assertComplete({ entries, files, bytes }: { entries: number; files: number; bytes: number }): void {
    const { totals } = this;
    if (entries !== this.entries || files !== totals.files || bytes !== totals.bytes) throw outOfTurn('offerEnd');
  }

  /** Number of entries received. */
  get entries(): number {
    return this.#guard.entries;
  }

  isFile(entry: number): boolean {
    return this.#guard.typeOf(entry) === 'file';
  }

  #count({ type, parent, size, name }: Entry): void {
    const { totals } = this;
    if (type === 'directory') totals.directories++;
    else if (type === 'symlink') totals.symlinks++;
    else totals.files++;
    totals.bytes += size;
    totals.stream ||= type === 'stream';
    if (parent !== TOP) return;
    totals.nameCount++;
    if (totals.names.length < MAX_NAMES) totals.names.push(name);
  }
}

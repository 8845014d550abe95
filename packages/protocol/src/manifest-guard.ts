// SPDX-License-Identifier: MPL-2.0
import { KeibiError, messageFor } from './errors.ts';
import { MAX_DEPTH, MAX_ENTRIES } from './limits.ts';
import { type Entry, type EntryType, TOP } from './manifest.ts';
import { NameTable } from './name-table.ts';
import { foldName, printable, refused, STAGING_PREFIX, tooLong } from './remote-path.ts';

const TYPES: readonly EntryType[] = ['file', 'directory', 'symlink', 'stream'];

/**
 * Checks what only all entries of a manifest together can show (PROTOCOL 6), and remembers of each what names its path.
 *
 * A parent is an earlier directory, never a file or a symlink; no two entries of a parent have one name; neither depth nor count is
 * over its limit. About 45 bytes an entry, its name included.
 */
export class ManifestGuard {
  readonly #foldNames: boolean;
  readonly #names: NameTable;
  #depths = new Uint16Array(1024);
  #types = new Uint8Array(1024);
  #entries = 0;

  /**
   * @param options.foldNames  the destination cannot tell two names apart that differ in case or normal form only, so of two such
   *                           names of one parent the second is refused
   */
  constructor(options: { foldNames: boolean }) {
    this.#foldNames = options.foldNames;
    this.#names = new NameTable(options);
  }

  /** Entries taken so far; the number of the next. */
  get entries(): number {
    return this.#entries;
  }

  /**
   * Takes the next entries, in order. After an error the manifest is refused as a whole.
   *
   * @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED naming the entry
   */
  addPage(entries: readonly Entry[]): void {
    for (const entry of entries) this.#add(entry);
  }

  /** The path of an entry below the destination, its names joined by `/`. */
  pathOf(entry: number): string {
    const names: string[] = [];
    for (let at = entry; at !== TOP; at = this.parentOf(at)) names.push(this.nameOf(at));
    return names.reverse().join('/');
  }

  nameOf(entry: number): string {
    return this.#names.nameOf(this.#known(entry));
  }

  parentOf(entry: number): number {
    return this.#names.parentOf(this.#known(entry));
  }

  typeOf(entry: number): EntryType {
    return TYPES[this.#types[this.#known(entry)] as number] as EntryType;
  }

  #add(entry: Entry): void {
    const number = this.#entries;
    const { parent, name } = entry;
    if (number === MAX_ENTRIES) throw tooLong(number, `there are more than ${MAX_ENTRIES} entries`);
    const depth = this.#depthUnder(parent, number);
    if (this.#foldNames && parent === TOP && foldName(name).startsWith(STAGING_PREFIX)) {
      throw refused(number, `its name begins with ${STAGING_PREFIX}`);
    }
    const other = this.#names.add(parent, name);
    if (other !== undefined) {
      const clash =
        this.nameOf(other) === name ? 'comes twice' : `cannot stand beside ${printable(this.nameOf(other))}`;
      throw refused(number, `its name ${printable(name)} ${clash}`);
    }
    if (number === this.#types.length) this.#grow();
    this.#depths[number] = depth;
    this.#types[number] = TYPES.indexOf(entry.type);
    this.#entries++;
  }

  #depthUnder(parent: number, number: number): number {
    if (parent === TOP) return 0;
    if (parent >= number) throw refused(number, `its parent ${parent} does not come before it`);
    if (this.typeOf(parent) !== 'directory') throw refused(number, `its parent ${parent} is a ${this.typeOf(parent)}`);
    const depth = (this.#depths[parent] as number) + 1;
    if (depth > MAX_DEPTH) throw tooLong(number, `it is under more than ${MAX_DEPTH} directories`);
    return depth;
  }

  #known(entry: number): number {
    if (entry >= 0 && entry < this.#entries) return entry;
    throw new KeibiError('INTERNAL', messageFor('INTERNAL', `There is no entry ${entry}`));
  }

  #grow(): void {
    const capacity = 2 * this.#types.length;
    const grown = <T extends Uint16Array | Uint8Array>(to: T, from: T) => {
      to.set(from);
      return to;
    };
    this.#depths = grown(new Uint16Array(capacity), this.#depths);
    this.#types = grown(new Uint8Array(capacity), this.#types);
  }
}

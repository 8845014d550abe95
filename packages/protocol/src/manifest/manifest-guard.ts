// SPDX-License-Identifier: MPL-2.0
import { KeibiError, messageFor } from '../errors.ts';
import { MAX_DEPTH, MAX_ENTRIES } from '../limits.ts';
import { type Entry, type EntryType, TOP } from './manifest.ts';
import { NameTable } from './name-table.ts';
import { foldName, printable, refused, STAGING_PREFIX, tooLong } from './remote-path.ts';

const TYPES: readonly EntryType[] = ['file', 'directory', 'symlink', 'stream'];

/**
 * Checks the rules that concern several entries of a manifest (PROTOCOL 6), and stores each entry's name and parent.
 *
 * A parent is an earlier directory, never a file or a symlink. Two entries of one parent have different names. Depth and number are
 * within their limits. Uses about 45 bytes per entry, including its name.
 */
export class ManifestGuard {
  readonly #foldNames: boolean;
  readonly #names: NameTable;
  #depths = new Uint16Array(1024);
  #types = new Uint8Array(1024);
  #entries = 0;

  /**
   * @param options.foldNames  the destination ignores case and normal form in names, so of two names of one parent that differ only in
   *                           these the second is refused
   */
  constructor(options: { foldNames: boolean }) {
    this.#foldNames = options.foldNames;
    this.#names = new NameTable(options);
  }

  /** Number of entries so far, which is the number of the next. */
  get entries(): number {
    return this.#entries;
  }

  /**
   * Adds the next entries, in order. After an error the whole manifest is refused.
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
      const clash = this.nameOf(other) === name ? 'is a duplicate' : `clashes with ${printable(this.nameOf(other))}`;
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

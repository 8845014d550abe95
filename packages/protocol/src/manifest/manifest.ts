// SPDX-License-Identifier: MPL-2.0
import { KeibiError, messageFor } from '../errors.ts';
import {
  CHUNK_BYTES,
  MAX_FILE_BYTES,
  MAX_NAME_BYTES,
  MAX_PAGE_BYTES,
  MAX_SPARSE_BYTES,
  MAX_TARGET_BYTES,
} from '../limits.ts';
import { checkName, decodeUtf8, printable, refused, tooLong, utf8Length } from './remote-path.ts';

export type EntryType = 'file' | 'directory' | 'symlink' | 'stream';

/** The `parent` of a top-level entry. */
export const TOP = 0xffffffff;

/**
 * One entry of a manifest, as in PROTOCOL 6.
 *
 *   0      1      3        7       15      23            25
 *   | type | mode | parent | mtime | size  | name length | name | target length 2 | target |     the last two of symlinks only
 */
export interface Entry {
  readonly type: EntryType;
  /** Permission bits, 0 to 0o777. */
  readonly mode: number;
  /** Number of an earlier directory, or `TOP`. */
  readonly parent: number;
  /** Nanoseconds since 1970, signed 64-bit. */
  readonly mtimeNs: bigint;
  /** Bytes of a file; 0 for anything else. */
  readonly size: number;
  readonly name: string;
  /** Set if a file of more than one chunk may hold less data than its size. */
  readonly sparse?: true;
  /** Target of a symlink, absent for other types; never followed. */
  readonly target?: string;
}

const HEAD_BYTES = 25;
const MAX_MODE = 0o777;
/** The bit of the mode field for `sparse`. */
const SPARSE_MODE = 0x8000;
const TYPES: readonly (EntryType | undefined)[] = [undefined, 'file', 'directory', 'symlink', 'stream'];
const encoder = new TextEncoder();

/** Packs entries, one after another, into pages of at most `MAX_PAGE_BYTES`. */
export class PageWriter {
  readonly #bytes = new Uint8Array(MAX_PAGE_BYTES);
  readonly #view = new DataView(this.#bytes.buffer);
  #length = 0;
  #entries = 0;

  /** Number of entries in the page so far. */
  get entries(): number {
    return this.#entries;
  }

  /**
   * Adds an entry and returns true, or returns false if the page has no room; `take()` the page then and add it again.
   *
   * @param number  the entry's number in the transfer, for messages
   * @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED for an entry that every receiver would refuse
   */
  tryAdd(entry: Entry, number: number): boolean {
    checkEntry(entry, number);
    if (this.#length + encodedBytes(entry) > MAX_PAGE_BYTES) return false;
    const view = this.#view;
    let at = this.#length;
    view.setUint8(at, TYPES.indexOf(entry.type));
    view.setUint16(at + 1, entry.sparse ? entry.mode | SPARSE_MODE : entry.mode);
    view.setUint32(at + 3, entry.parent);
    view.setBigInt64(at + 7, entry.mtimeNs);
    setSize(view, at + 15, entry.size);
    at = this.#putText(at + HEAD_BYTES - 2, entry.name);
    if (entry.target !== undefined) at = this.#putText(at, entry.target);
    this.#length = at;
    this.#entries++;
    return true;
  }

  /** Returns a copy of the page and begins the next one. */
  take(): Uint8Array {
    const page = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    this.#entries = 0;
    return page;
  }

  #putText(at: number, text: string): number {
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(at + 2));
    this.#view.setUint16(at, written);
    return at + 2 + written;
  }
}

/**
 * Encodes entries as one page.
 *
 * @throws TRANSFER_LIMIT_EXCEEDED if they do not fit into `MAX_PAGE_BYTES`
 */
export function encodePage(entries: readonly Entry[], firstEntry = 0): Uint8Array {
  const page = new PageWriter();
  entries.forEach((entry, i) => {
    if (!page.tryAdd(entry, firstEntry + i)) throw tooLong(firstEntry + i, `its page is over ${MAX_PAGE_BYTES} bytes`);
  });
  return page.take();
}

/**
 * Decodes one page and checks each entry by itself; `ManifestGuard` checks the rules that concern several entries.
 *
 * @param firstEntry  the number of the page's first entry
 * @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED naming the entry
 */
export function decodePage(bytes: Uint8Array, firstEntry: number): Entry[] {
  if (bytes.length > MAX_PAGE_BYTES)
    throw tooLong(firstEntry, `its page has ${bytes.length} bytes, over ${MAX_PAGE_BYTES}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: Entry[] = [];
  let at = 0;
  while (at < bytes.length) {
    const number = firstEntry + entries.length;
    const nameEnd = textEnd(view, at + HEAD_BYTES - 2, MAX_NAME_BYTES, number);
    const type = TYPES[view.getUint8(at)];
    if (type === undefined) throw refused(number, `its type is ${view.getUint8(at)}`);
    const mode = view.getUint16(at + 1);
    const parent = view.getUint32(at + 3);
    const entry: Entry = {
      type,
      mode: mode & ~SPARSE_MODE,
      parent,
      mtimeNs: view.getBigInt64(at + 7),
      size: getSize(view, at + 15, number),
      name: checkName(bytes.subarray(at + HEAD_BYTES, nameEnd), { top: parent === TOP, entry: number }),
      ...(mode & SPARSE_MODE && { sparse: true }),
    };
    at = nameEnd;
    if (type === 'symlink') {
      at = textEnd(view, nameEnd, MAX_TARGET_BYTES, number);
      entries.push({ ...entry, target: decodeUtf8(bytes.subarray(nameEnd + 2, at), number) });
    } else {
      entries.push(entry);
    }
    checkValues(entries[entries.length - 1] as Entry, number);
  }
  return entries;
}

/**
 * Calls `visit` for each entry of a page. Several times faster than `decodePage`, because it checks no text.
 *
 * @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED naming the entry
 */
export function scanPage(bytes: Uint8Array, visit: (index: number, type: EntryType, size: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const nameEnd = textEnd(view, at + HEAD_BYTES - 2, MAX_NAME_BYTES, index);
    const type = TYPES[view.getUint8(at)];
    if (type === undefined) throw refused(index, `its type is ${view.getUint8(at)}`);
    visit(index, type, getSize(view, at + 15, index));
    at = nameEnd;
    if (type === 'symlink') at = textEnd(view, at, MAX_TARGET_BYTES, index);
  }
}

/** Like `scanPage`, with names: each is the UTF-8 from `from` to `to`. */
export function scanNames(
  bytes: Uint8Array,
  visit: (index: number, type: EntryType, parent: number, from: number, to: number) => void,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const end = textEnd(view, at + HEAD_BYTES - 2, MAX_NAME_BYTES, index);
    const type = TYPES[view.getUint8(at)];
    if (type === undefined) throw refused(index, `its type is ${view.getUint8(at)}`);
    visit(index, type, view.getUint32(at + 3), at + HEAD_BYTES, end);
    at = type === 'symlink' ? textEnd(view, end, MAX_TARGET_BYTES, index) : end;
  }
}

/** The offset of each entry of a page and the end of the last one, so that a single entry can be decoded. */
export function entryStarts(bytes: Uint8Array, count: number): Uint32Array {
  const starts = new Uint32Array(count + 1).fill(bytes.length);
  scanNames(bytes, (i, _type, _parent, from) => {
    starts[i] = from - HEAD_BYTES;
  });
  return starts;
}

/** The end of a text with its length field at `at`, checked against the limit and the page. */
function textEnd(view: DataView, at: number, limit: number, number: number): number {
  if (at + 2 > view.byteLength) throw cut(number);
  const length = view.getUint16(at);
  if (length > limit) throw tooLong(number, `it holds a text of ${length} bytes, over ${limit}`);
  const end = at + 2 + length;
  if (end > view.byteLength) throw cut(number);
  return end;
}

function cut(number: number): KeibiError {
  return new KeibiError('TRANSFER_PATH_REFUSED', messageFor('TRANSFER_PATH_REFUSED', `Entry ${number} is cut off`), {
    detail: { entry: number },
  });
}

/** Checks for both directions: the sender fails early, and the receiver must not trust it. */
function checkValues(entry: Entry, number: number): void {
  const { type, mode, size, sparse, target } = entry;
  if (!(mode >= 0 && mode <= MAX_MODE)) throw refused(number, `its mode is ${mode.toString(8)}`);
  if (type !== 'file' && size !== 0) throw refused(number, `it is a ${type} with a size`);
  if (!(size >= 0 && size <= MAX_FILE_BYTES)) throw tooLong(number, `its size is ${size}`);
  if (sparse && !(size > CHUNK_BYTES)) throw refused(number, `it is a sparse ${type} of ${size} bytes`);
  if (sparse && size > MAX_SPARSE_BYTES) throw tooLong(number, `it is sparse and its size is ${size}`);
  if ((type === 'symlink') !== (target !== undefined)) throw refused(number, 'only a symlink has a target, and always');
  if (target === undefined) return;
  if (target === '' || target.includes('\0'))
    throw refused(number, `its target ${printable(target)} is empty or holds a NUL`);
}

function checkEntry(entry: Entry, number: number): void {
  checkName(entry.name, { top: entry.parent === TOP, entry: number });
  checkValues(entry, number);
  if (entry.target === undefined) return;
  const bytes = utf8Length(entry.target);
  if (bytes === undefined) throw refused(number, `its target ${printable(entry.target)} is not Unicode`);
  if (bytes > MAX_TARGET_BYTES) throw tooLong(number, `its target has ${bytes} bytes, over ${MAX_TARGET_BYTES}`);
}

/** Encoded length of a checked entry. */
function encodedBytes({ name, target }: Entry): number {
  return HEAD_BYTES + (utf8Length(name) ?? 0) + (target === undefined ? 0 : 2 + (utf8Length(target) ?? 0));
}

// Sizes fit a `number` exactly, so write them as two halves rather than through a bigint.
function setSize(view: DataView, at: number, size: number): void {
  view.setUint32(at, Math.floor(size / 2 ** 32));
  view.setUint32(at + 4, size % 2 ** 32);
}

function getSize(view: DataView, at: number, number: number): number {
  const high = view.getUint32(at);
  if (high >= 2 ** 21) throw tooLong(number, `its size is over ${MAX_FILE_BYTES}`);
  return high * 2 ** 32 + view.getUint32(at + 4);
}

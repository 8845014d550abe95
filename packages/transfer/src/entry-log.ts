// SPDX-License-Identifier: MPL-2.0
import type { Page } from '@keibidrop/native';
import { decodePage, type Entry, type ErrorCode, entryStarts, scanPage } from '@keibidrop/protocol';
import type { TransferProgress } from './outcome.ts';

/** pending: not yet begun. skipped: up to date at the receiver, or the receiver keeps its existing file. */
export type EntryState = 'pending' | 'running' | 'done' | 'skipped' | 'failed';

/** One page of an offer, with the state of its entries. */
export interface LoggedPage extends Page {
  /** One bit per entry, as in PROTOCOL 7; absent until the receiver answers. */
  wanted?: Uint8Array;
  /** One bit per entry placed at the receiver in this session or an earlier one. */
  readonly placed: Uint8Array;
  /** Number of entries placed in this session. */
  standing: number;
  /** Number of failed entries. */
  failed: number;
}

/** The current position of a transfer, in sending order. */
export interface Cursor {
  /** The first wanted entry that is not known to be complete at the receiver. */
  readonly entry: number;
  /** Approximate bytes of it at the receiver. */
  readonly bytes: number;
}

/** Pages whose entry offsets are cached; some 20 KiB per page. */
const OPENED_PAGES = 64;
const NONE = new Uint8Array();

/**
 * The entries of one session's transfer and the state of each, for display.
 *
 * Costs the encoded pages and three bits per entry. Nothing is decoded before the first query.
 */
export class EntryLog {
  readonly #keep: (bytes: number) => boolean;
  readonly #pages: LoggedPage[] = [];
  readonly #failures = new Map<number, ErrorCode>();
  readonly #summed = new WeakMap<LoggedPage, PageSums>();
  /** The log of another session of the same transfer. */
  #other: EntryLog | undefined;
  /** The log of an earlier session with the same peer, and its last position. */
  #before: { log: EntryLog; cursor: Cursor } | undefined;
  #progress: TransferProgress = { files: 0, bytes: 0 };
  #reporting: 'one by one' | 'counted' = 'counted';
  #stage: 'open' | 'finished' | 'ended' = 'open';
  #complete = false;
  #forgotten = false;
  readonly #opened = new Map<LoggedPage, Uint32Array>();

  /**
   * @param keep   called before more bytes are kept; if it returns false, the log forgets everything
   * @param other  the log of another session. With the same peer, its placed entries count as placed; equal pages are shared in any case
   */
  constructor(keep: (bytes: number) => boolean, other?: { log: EntryLog; samePeer: boolean }) {
    this.#keep = keep;
    this.#other = other?.log;
    if (other?.samePeer) this.#before = { log: other.log, cursor: other.log.cursor() };
  }

  get pages(): readonly LoggedPage[] {
    return this.#pages;
  }

  /** Number of known entries. */
  get entries(): number {
    const last = this.#pages.at(-1);
    return last === undefined ? 0 : last.first + last.count;
  }

  /** The offer has ended; no more pages follow. */
  get complete(): boolean {
    return this.#complete;
  }

  /** The log was discarded for lack of room. */
  get forgotten(): boolean {
    return this.#forgotten;
  }

  /** Adds the next page, in its encoded form. */
  add({ first, count, bytes }: Page): void {
    if (this.#forgotten) return;
    const other = this.#other?.pages[this.#pages.length];
    const same = other !== undefined && other.first === first && sameBytes(other.bytes, bytes);
    const held = (count + 7) >> 3;
    if (!this.#keep((same ? 0 : bytes.length) + 2 * held)) {
      this.forget();
      return;
    }
    const placed = same && this.#before ? this.#placedBefore(other, this.#before) : new Uint8Array(held);
    this.#pages.push({ first, count, bytes: same ? other.bytes : bytes, placed, standing: 0, failed: 0 });
  }

  /** Records the receiver's answer to one page. */
  answer(first: number, wanted: Uint8Array): void {
    const page = this.#pageOf(first);
    if (page !== undefined) page.wanted = wanted;
  }

  /** Records an entry as placed under its final name. */
  place(entry: number): void {
    this.#reporting = 'one by one';
    const page = this.#pageOf(entry);
    if (page === undefined || bitOf(page.placed, entry - page.first)) return;
    setBit(page.placed, entry - page.first);
    page.standing++;
  }

  fail(entry: number, code: ErrorCode): void {
    const page = this.#pageOf(entry);
    if (page === undefined || this.#failures.has(entry)) return;
    this.#failures.set(entry, code);
    page.failed++;
  }

  /** Records how much the receiver has. */
  progress(progress: TransferProgress): void {
    this.#progress = progress;
  }

  /** Records the end of the offer. */
  walked(): void {
    this.#complete = true;
    this.#other = this.#before = undefined;
  }

  /** Records that all wanted entries without an error are complete. */
  finish(): void {
    if (this.#stage === 'open') this.#stage = 'finished';
  }

  /** Records the end of the session. */
  end(): void {
    if (this.#stage === 'open') this.#stage = 'ended';
    this.#opened.clear();
    this.#other = this.#before = undefined;
  }

  /** Discards all contents for good. */
  forget(): void {
    this.#forgotten = true;
    this.#pages.length = 0;
    this.#failures.clear();
    this.#opened.clear();
    this.#other = this.#before = undefined;
  }

  codeOf(entry: number): ErrorCode | undefined {
    return this.#failures.get(entry);
  }

  entry(number: number): Entry | undefined {
    const page = this.#pageOf(number);
    if (page === undefined) return undefined;
    const starts = this.#startsOf(page);
    const i = number - page.first;
    return decodePage(page.bytes.subarray(starts[i], starts[i + 1]), number)[0];
  }

  /** Offsets of a page's entries, and the end of the last one. */
  #startsOf(page: LoggedPage): Uint32Array {
    const starts = this.#opened.get(page) ?? entryStarts(page.bytes, page.count);
    // Moves the page to the end of the map, which evicts the oldest.
    this.#opened.delete(page);
    this.#opened.set(page, starts);
    const [oldest] = this.#opened.keys();
    if (oldest !== undefined && this.#opened.size > OPENED_PAGES) this.#opened.delete(oldest);
    return starts;
  }

  /** Whether every wanted file is complete and no more follow. */
  get finished(): boolean {
    return this.#stage === 'finished';
  }

  /**
   * State of one entry.
   *
   * @param cursor  the current one
   * @param open    folders that have pending files
   */
  stateOf(
    number: number,
    { type, size }: Pick<Entry, 'type' | 'size'>,
    cursor: Cursor,
    open: ReadonlySet<number>,
  ): EntryState {
    if (this.#failures.has(number)) return 'failed';
    const page = this.#pageOf(number);
    if (page?.wanted === undefined) return 'pending';
    // A folder is done once its files are done and the walk has ended: until then the walk may add files.
    if (type === 'directory') return open.has(number) || !(this.#complete || this.finished) ? 'pending' : 'done';
    const i = number - page.first;
    if (this.#stands(page, i, cursor)) return 'done';
    if (!bitOf(page.wanted, i)) return type === 'file' && size > 0 ? 'skipped' : 'done';
    return number === cursor.entry && this.#stage === 'open' && cursor.bytes > 0 ? 'running' : 'pending';
  }

  #stands(page: LoggedPage, i: number, cursor: Cursor): boolean {
    if (bitOf(page.placed, i)) return true;
    const counted = this.#reporting === 'counted' && page.first + i < cursor.entry;
    return bitOf(page.wanted ?? NONE, i) && (this.#stage === 'finished' || counted);
  }

  /**
   * The current position. A sender knows only counts; since files go out in order, the first wanted ones count as complete.
   *
   * Bytes that the receiver keeps of a file from an earlier run are attributed to the file at the cursor.
   */
  cursor(): Cursor {
    const answered = this.#pages.filter(({ wanted }) => wanted !== undefined);
    // The receiver's counts include skipped files.
    let { files, bytes: left } = this.#progress;
    for (const page of answered) {
      const { skippedFiles, skippedBytes } = this.#sums(page);
      files -= skippedFiles;
      left -= skippedBytes;
    }
    let at: { entry: number; size: number } | undefined;
    for (const page of answered) {
      const { wantedFiles, wantedBytes } = this.#sums(page);
      const standing = this.#reporting === 'one by one' ? page.standing : Math.max(0, Math.min(files, wantedFiles));
      files -= standing;
      if (standing >= wantedFiles) left -= wantedBytes;
      else if (standing > 0 || at === undefined) {
        const within = this.#within(page, standing);
        left -= within.bytes;
        at ??= within.next;
      }
    }
    if (at === undefined) return { entry: this.#pages[answered.length]?.first ?? this.entries, bytes: 0 };
    return { entry: at.entry, bytes: Math.max(0, Math.min(at.size, left)) };
  }

  /** The first incomplete entry of a page, and the bytes of the complete ones. */
  #within({ bytes, first, wanted = NONE, placed }: LoggedPage, standing: number) {
    let left = standing;
    const found: { next?: { entry: number; size: number }; bytes: number } = { bytes: 0 };
    scanPage(bytes, (i, _type, size) => {
      if (!bitOf(wanted, i) || this.#failures.has(first + i)) return;
      const stands = this.#reporting === 'one by one' ? bitOf(placed, i) : left-- > 0;
      if (stands) found.bytes += size;
      else found.next ??= { entry: first + i, size };
    });
    return found;
  }

  /** Totals of an answered page, without failed entries. */
  #sums(page: LoggedPage): PageSums {
    const known = this.#summed.get(page);
    if (known?.failed === page.failed) return known;
    const { wanted = NONE, first, failed } = page;
    const sums: PageSums = { failed, wantedFiles: 0, wantedBytes: 0, skippedFiles: 0, skippedBytes: 0 };
    scanPage(page.bytes, (i, type, size) => {
      if (type === 'directory' || type === 'symlink' || this.#failures.has(first + i)) return;
      const isWanted = bitOf(wanted, i);
      sums[isWanted ? 'wantedFiles' : 'skippedFiles']++;
      sums[isWanted ? 'wantedBytes' : 'skippedBytes'] += size;
    });
    this.#summed.set(page, sums);
    return sums;
  }

  /** Bits of the entries of an earlier session's page that were complete when it ended. */
  #placedBefore(page: LoggedPage, { log, cursor }: { log: EntryLog; cursor: Cursor }): Uint8Array {
    const placed = page.placed.slice();
    for (let i = 0; i < page.count; i++) if (log.#stands(page, i, cursor)) setBit(placed, i);
    return placed;
  }

  #pageOf(entry: number): LoggedPage | undefined {
    let low = 0;
    let high = this.#pages.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const page = this.#pages[middle] as LoggedPage;
      if (entry < page.first) high = middle - 1;
      else if (entry >= page.first + page.count) low = middle + 1;
      else return page;
    }
    return undefined;
  }
}

interface PageSums {
  /** Number of failed entries. */
  failed: number;
  wantedFiles: number;
  wantedBytes: number;
  /** Already at the receiver, left unchanged, or empty. */
  skippedFiles: number;
  skippedBytes: number;
}

function bitOf(bits: Uint8Array, i: number): boolean {
  return ((bits[i >> 3] ?? 0) & (1 << (i & 7))) !== 0;
}

function setBit(bits: Uint8Array, i: number): void {
  bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

// SPDX-License-Identifier: MPL-2.0
import { setImmediate as breathe } from 'node:timers/promises';
import { type Entry, type ErrorCode, scanNames, scanPage, TOP } from '@keibidrop/protocol';
import type { Cursor, EntryLog, EntryState } from './entry-log.ts';
import { PathFilter } from './path-filter.ts';

/** One entry as the interface shows it. */
export interface ListedEntry {
  index: number;
  /** Names joined by `/`; untrusted text of the peer. */
  path: string;
  type: Entry['type'];
  size: number;
  state: EntryState;
  /** Bytes at the receiver; approximate for a running entry. */
  bytes: number;
  /** Error of a failed entry. */
  code?: ErrorCode | undefined;
}

/** Selects a part of a list. */
export interface ListQuery {
  /** Index among the matching entries, from 0. */
  first: number;
  limit: number;
  /** A part of the path, case-insensitive; '' matches all. */
  filter: string;
  state?: EntryState | undefined;
}

/** Limit on cached folder paths during a search through all entries. */
const MAX_FOLDERS = 10_000;

/** Numbers of folders that have pending files. */
type Folders = ReadonlySet<number>;

/** A log as a list that is read in parts; caches the result of the last search. */
export class EntryList {
  readonly #log: EntryLog;
  #found: { filter: string; matches: PathFilter; pages: number; entries: number[] } | undefined;
  readonly #folders = new Map<number, string>();

  constructor(log: EntryLog) {
    this.#log = log;
  }

  /** Reads one part. Yields to other work between two pages of the offer. @throws `signal.reason` */
  async part(query: ListQuery, signal: AbortSignal): Promise<{ total: number; entries: ListedEntry[] }> {
    const open = await this.#openFolders(signal);
    const cursor = this.#log.cursor();
    if (query.filter === '' && query.state === undefined) return this.#all(query, cursor, open);
    const matching = query.filter === '' ? undefined : await this.#matching(query.filter, signal);
    if (query.state === undefined) return this.#of(matching ?? [], query, cursor, open);
    return this.#of(await this.#inState(query.state, matching, open, signal), query, this.#log.cursor(), open);
  }

  #all({ first, limit }: ListQuery, cursor: Cursor, open: Folders): { total: number; entries: ListedEntry[] } {
    const total = this.#log.entries;
    const count = Math.max(0, Math.min(limit, total - first));
    return { total, entries: Array.from({ length: count }, (_, i) => this.#listed(first + i, cursor, open)) };
  }

  #of(numbers: readonly number[], { first, limit }: ListQuery, cursor: Cursor, open: Folders) {
    const entries = numbers.slice(first, first + limit).map((number) => this.#listed(number, cursor, open));
    return { total: numbers.length, entries };
  }

  #listed(index: number, cursor: Cursor, open: Folders): ListedEntry {
    const entry = this.#log.entry(index) as Entry;
    const { type, size, name, parent } = entry;
    const state = this.#log.stateOf(index, entry, cursor, open);
    const bytes = state === 'running' ? cursor.bytes : state === 'done' || state === 'skipped' ? size : 0;
    return { index, path: this.#folder(parent) + name, type, size, state, bytes, code: this.#log.codeOf(index) };
  }

  /** Folders with pending or running files, at any depth. */
  async #openFolders(signal: AbortSignal): Promise<Folders> {
    const log = this.#log;
    const open = new Set<number>();
    if (log.finished || !log.complete) return open;
    const cursor = log.cursor();
    const above = new Map<number, number>();
    for (const { first, bytes } of log.pages) {
      await pause(signal);
      scanNames(bytes, (i, type, parent) => {
        if (type === 'directory') {
          above.set(first + i, parent);
          return;
        }
        // Size 0 suffices: an unwanted file is skipped or done, so it is not pending either way.
        const state = log.stateOf(first + i, { type, size: 0 }, cursor, open);
        if (state !== 'pending' && state !== 'running') return;
        for (let at: number | undefined = parent; at !== undefined && at !== TOP && !open.has(at); at = above.get(at)) {
          open.add(at);
        }
      });
    }
    return open;
  }

  /** The numbers of all entries whose path contains `filter`. */
  async #matching(filter: string, signal: AbortSignal): Promise<readonly number[]> {
    if (this.#found?.filter !== filter) {
      const matches = new PathFilter(filter, (number) => this.#folder(number));
      this.#found = { filter, matches, pages: 0, entries: [] };
    }
    const found = this.#found;
    for (; found.pages < this.#log.pages.length; found.pages++) {
      await pause(signal);
      const page = this.#log.pages[found.pages];
      // The log was forgotten meanwhile.
      if (page === undefined) break;
      found.matches.take(page, found.entries);
    }
    return found.entries;
  }

  /** The entries in one state, among `numbers` in ascending order or among all. */
  async #inState(
    state: EntryState,
    numbers: readonly number[] | undefined,
    open: Folders,
    signal: AbortSignal,
  ): Promise<number[]> {
    const log = this.#log;
    const cursor = log.cursor();
    const found: number[] = [];
    let next = 0;
    for (const { first, bytes } of log.pages) {
      await pause(signal);
      scanPage(bytes, (i, type, size) => {
        const number = first + i;
        if (numbers !== undefined && numbers[next] !== number) return;
        next++;
        if (log.stateOf(number, { type, size }, cursor, open) === state) found.push(number);
      });
    }
    return found;
  }

  /** The path of a folder with a trailing slash; '' for the top. */
  #folder(number: number): string {
    if (number === TOP) return '';
    const known = this.#folders.get(number);
    if (known !== undefined) return known;
    const names: string[] = [];
    let above = '';
    for (let at = number; at !== TOP; ) {
      const shortcut = this.#folders.get(at);
      if (shortcut !== undefined) {
        above = shortcut;
        break;
      }
      const entry = this.#log.entry(at);
      if (entry === undefined) break;
      names.push(entry.name);
      at = entry.parent;
    }
    const path = `${above}${names.reverse().join('/')}/`;
    if (this.#folders.size >= MAX_FOLDERS) this.#folders.clear();
    this.#folders.set(number, path);
    return path;
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  await breathe();
  signal.throwIfAborted();
}

// SPDX-License-Identifier: MPL-2.0
import { setImmediate as breathe } from 'node:timers/promises';
import { type Entry, type ErrorCode, scanNames, scanPage, TOP } from '@keibidrop/protocol';
import type { Cursor, EntryLog, EntryState } from './entry-log.ts';
import { PathFilter } from './path-filter.ts';

/** One entry as people see it. */
export interface ListedEntry {
  index: number;
  /** Names joined by `/`: a peer's words. */
  path: string;
  type: Entry['type'];
  size: number;
  state: EntryState;
  /** That stand at the receiver; of a running one about. */
  bytes: number;
  /** Why it failed. */
  code?: ErrorCode | undefined;
}

/** Which part of a list is wanted. */
export interface ListQuery {
  /** Of those that match, from 0. */
  first: number;
  limit: number;
  /** A part of the path, in any case; '': all. */
  filter: string;
  state?: EntryState | undefined;
}

/** Paths of folders that are remembered while one looks through all entries. */
const MAX_FOLDERS = 10_000;

/** A log as a list that is looked at part by part; what it last searched for is remembered until it searches for something else. */
type Folders = ReadonlySet<number>;

export class EntryList {
  readonly #log: EntryLog;
  #found: { filter: string; matches: PathFilter; pages: number; entries: number[] } | undefined;
  readonly #folders = new Map<number, string>();

  constructor(log: EntryLog) {
    this.#log = log;
  }

  /** Lets others run between two pages of the offer. @throws `signal.reason` */
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

  /** Folders that have files, in them or deeper, that are still to come. */
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

  /** The numbers of all entries in whose path `filter` stands. */
  async #matching(filter: string, signal: AbortSignal): Promise<readonly number[]> {
    if (this.#found?.filter !== filter) {
      const matches = new PathFilter(filter, (number) => this.#folder(number));
      this.#found = { filter, matches, pages: 0, entries: [] };
    }
    const found = this.#found;
    for (; found.pages < this.#log.pages.length; found.pages++) {
      await pause(signal);
      const page = this.#log.pages[found.pages];
      // Forgotten meanwhile.
      if (page === undefined) break;
      found.matches.take(page, found.entries);
    }
    return found.entries;
  }

  /** Those of `numbers` that rise, or of all, that are in a state. */
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

  /** The path of a folder and a slash; '' above all. */
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

// SPDX-License-Identifier: MPL-2.0
import type { FileView, ReplyOf } from '@keibidrop/daemon/local';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Api, ApiError } from '../../../shared/api.ts';
import { useApi } from '../../api/api-context.ts';
import { apiErrorOf } from '../../store/use-action.ts';

/** Files per request. */
export const PAGE_FILES = 500;
/** Interval at which the visible pages are reloaded while the transfer runs. */
const AGAIN_MS = 1000;
/** Pause after a reload, as a multiple of the time that the reload took. */
const COSTS_LESS_THAN = 12;
/** Pause in typing after which a filter applies. */
const TYPING_MS = 250;

export interface FileQuery {
  readonly transfer: number;
  readonly filter: string;
  /** Empty: all states. */
  readonly state: string;
}

export interface FilePages {
  readonly total: number;
  readonly complete: boolean;
  readonly forgotten: boolean;
  readonly error: ApiError | undefined;
  /** Undefined until loaded. */
  fileAt(index: number): FileView | undefined;
  /** Sets the visible rows; only their pages are loaded. */
  look(first: number, last: number): void;
}

/** The pages that contain the rows from `first` to `last`. */
export function pagesOf(first: number, last: number): number[] {
  const from = Math.floor(Math.max(0, first) / PAGE_FILES);
  const to = Math.floor(Math.max(0, last) / PAGE_FILES);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** Loads the files of a transfer as they come into view, and refreshes them while it runs. */
export function useFilePages(query: FileQuery, live: boolean): FilePages {
  const api = useApi();
  const loader = useRef<Loader>(undefined);
  const [shown, setShown] = useState<Loaded>(NOTHING);
  const { transfer, filter, state } = query;
  useEffect(() => {
    const mine = new Loader(api, { transfer, filter, state }, setShown);
    loader.current = mine;
    // Wait with the first request until the user stops typing.
    const timer = setTimeout(() => mine.begin(), filter === '' ? 0 : TYPING_MS);
    return () => {
      clearTimeout(timer);
      mine.close();
    };
  }, [api, transfer, filter, state]);
  useEffect(() => {
    void loader.current?.reload();
    if (!live) return;
    const timer = setInterval(() => loader.current?.refresh(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [live]);
  const look = useCallback((first: number, last: number) => loader.current?.look(first, last), []);
  const fileAt = (index: number) => shown.pages.get(Math.floor(index / PAGE_FILES))?.[index % PAGE_FILES];
  return { ...shown, fileAt, look };
}

interface Loaded {
  readonly total: number;
  readonly complete: boolean;
  readonly forgotten: boolean;
  readonly error: ApiError | undefined;
  readonly pages: ReadonlyMap<number, readonly FileView[]>;
}

const NOTHING: Loaded = { total: 0, complete: false, forgotten: false, error: undefined, pages: new Map() };
/** Number of pages kept in memory, with the visible ones. */
const KEPT_PAGES = 8;

class Loader {
  readonly #api: Api;
  readonly #query: FileQuery;
  readonly #show: (loaded: Loaded) => void;
  readonly #over = new AbortController();
  #loaded: Loaded = NOTHING;
  #seen: readonly number[] = [0];
  /** Time of the next automatic reload: the longer a request takes, the longer the pause. */
  #notBefore = 0;
  #busy = false;
  #begun = false;

  constructor(api: Api, query: FileQuery, show: (loaded: Loaded) => void) {
    this.#api = api;
    this.#query = query;
    this.#show = show;
  }

  begin(): void {
    this.#begun = true;
    void this.reload();
  }

  close(): void {
    this.#over.abort();
  }

  look(first: number, last: number): void {
    this.#seen = pagesOf(first, last);
    if (this.#begun && this.#seen.some((page) => !this.#loaded.pages.has(page))) void this.reload();
  }

  /** Reloads the visible pages, one request at a time; rows that come into view meanwhile are loaded next. */
  async reload(): Promise<void> {
    if (this.#busy || !this.#begun || this.#over.signal.aborted) return;
    this.#busy = true;
    const began = Date.now();
    try {
      let asked: readonly number[] = [];
      do {
        asked = this.#seen;
        for (const page of asked) await this.#load(page);
      } while (this.#seen.some((page) => !asked.includes(page) && !this.#loaded.pages.has(page)));
    } catch (reason) {
      if (!this.#over.signal.aborted) this.#report({ ...this.#loaded, error: apiErrorOf(reason) });
    } finally {
      this.#busy = false;
      this.#notBefore = Date.now() + COSTS_LESS_THAN * (Date.now() - began);
    }
  }

  /** Reloads unless the last reload was too recent or the page is hidden. */
  refresh(): void {
    if (!document.hidden && Date.now() >= this.#notBefore) void this.reload();
  }

  async #load(page: number): Promise<void> {
    const { transfer, filter, state } = this.#query;
    const request = {
      transfer,
      first: page * PAGE_FILES,
      limit: PAGE_FILES,
      ...(filter !== '' && { filter }),
      ...(state !== '' && { state }),
    };
    this.#keep(page, await this.#api.call('files', request, { signal: this.#over.signal }));
  }

  #keep(page: number, { total, complete, forgotten, files }: ReplyOf<'files'>): void {
    if (this.#over.signal.aborted) return;
    const pages = new Map(this.#loaded.pages);
    // Insertion order: the newest page last.
    pages.delete(page);
    pages.set(page, files);
    for (const old of pages.keys()) {
      if (pages.size <= KEPT_PAGES) break;
      if (!this.#seen.includes(old)) pages.delete(old);
    }
    this.#report({ total, complete, forgotten, error: undefined, pages });
  }

  #report(loaded: Loaded): void {
    this.#loaded = loaded;
    this.#show(loaded);
  }
}

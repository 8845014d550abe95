// SPDX-License-Identifier: MPL-2.0
import { readFile, rename } from 'node:fs/promises';
import { fileNewer } from '@keibidrop/protocol';
import { fileError, writePrivate } from '@keibidrop/settings/files';

/** Unfinished requests, shares or mounts of the daemon. */
export interface JournalState<Entry> {
  /** The number of the next entry. */
  next: number;
  /** In the order in which they were added. */
  entries: Entry[];
}

const VERSION = 2;
/** Until this version the key of all entries was `transfers`. */
const VERSION_WITH_TRANSFERS = 1;

/**
 * A small file that survives `kill -9` at any moment: every state replaces the previous one as a whole.
 *
 * Writes run one after the other. Of the states that arrive during a write only the newest is written.
 */
export class Journal<Entry> {
  readonly #file: string;
  readonly #isEntry: (value: unknown) => boolean;
  #writing: Promise<void> | undefined;
  /** A later version wrote the file. */
  #newer = false;
  /** The exact content of the file. */
  #written: string | undefined;
  #next: { state: () => JournalState<Entry>; written: Promise<void> } | undefined;

  /** @param isEntry  whether a value from the file is a valid entry, because people may edit the file */
  constructor(file: string, isEntry: (value: unknown) => boolean) {
    this.#file = file;
    this.#isEntry = isEntry;
  }

  /**
   * Reads the last written state; undefined if there is none. A file with any damage is renamed and kept.
   *
   * @returns  `damaged`: the new name of that file
   * @throws FILE_NEWER, CONFIG_INVALID
   */
  async read(): Promise<{ state?: JournalState<Entry>; damaged?: string }> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
        // A missing file equals one without entries.
        this.#written = textOf({ next: 1, entries: [] });
        return {};
      }
      throw fileError('CONFIG_INVALID', this.#file, 'read', cause);
    }
    const found = parsed<Entry>(text);
    if (found === 'newer') {
      this.#newer = true;
      throw fileNewer(this.#file);
    }
    const entries = found?.entries.filter((entry) => this.#isEntry(entry)) ?? [];
    if (found !== undefined && entries.length === found.entries.length) {
      this.#written = text;
      return { state: found };
    }
    const damaged = `${this.#file}.damaged-${Date.now()}`;
    await rename(this.#file, damaged);
    return { damaged, ...(found && { state: { next: found.next, entries } }) };
  }

  /** Resolves once the result of `state`, taken at a moment after this call, is on the disk. @throws DISK_FULL, CONFIG_INVALID, FILE_NEWER */
  write(state: () => JournalState<Entry>): Promise<void> {
    if (this.#next !== undefined) {
      this.#next.state = state;
      return this.#next.written;
    }
    const before = this.#writing?.catch(() => {}) ?? Promise.resolve();
    const written = before.then(() => {
      const now = this.#next?.state ?? state;
      this.#next = undefined;
      this.#writing = this.#put(now()).finally(() => {
        this.#writing = undefined;
      });
      return this.#writing;
    });
    this.#next = { state, written };
    return written;
  }

  async #put(state: JournalState<Entry>): Promise<void> {
    if (this.#newer) throw fileNewer(this.#file);
    const text = textOf(state);
    // A full disk must not fail a state that is already stored.
    if (text === this.#written) return;
    this.#written = undefined;
    await writePrivate(this.#file, Buffer.from(text), { replace: true }, 'CONFIG_INVALID');
    this.#written = text;
  }
}

function textOf({ next, entries }: JournalState<unknown>): string {
  return JSON.stringify({ v: VERSION, next, entries });
}

function parsed<Entry>(text: string): JournalState<Entry> | 'newer' | undefined {
  try {
    const { v, next, ...lists } = JSON.parse(text);
    if (Number.isSafeInteger(v) && v > VERSION) return 'newer';
    const entries = v === VERSION ? lists.entries : v === VERSION_WITH_TRANSFERS ? lists.transfers : undefined;
    return Number.isSafeInteger(next) && Array.isArray(entries) ? { next, entries } : undefined;
  } catch {
    return undefined;
  }
}

/** The fields of an arbitrary value; none if it is no object. */
export function fieldsIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export function isId(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

// SPDX-License-Identifier: MPL-2.0
import { readFile, rename } from 'node:fs/promises';
import { fileError } from '../disk-full.ts';
import { writePrivate } from '../private-file.ts';

/** What the daemon has been asked for and has not done yet. */
export interface JournalState<Entry> {
  /** The number of the next transfer. */
  next: number;
  /** In the order of the queue. */
  transfers: Entry[];
}

const VERSION = 1;

/**
 * A small file that survives `kill -9` at any moment: every state replaces the one before as a whole.
 *
 * Writes run one after the other; of states that come while one is being written only the newest is.
 */
export class Journal<Entry> {
  readonly #file: string;
  #writing: Promise<void> | undefined;
  /** The file holds exactly this. */
  #written: string | undefined;
  #next: { state: () => JournalState<Entry>; written: Promise<void> } | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * What was written last; undefined if nothing was. A file that makes no sense is kept under another name.
   *
   * @returns  `damaged`: where it is kept
   */
  async read(): Promise<{ state?: JournalState<Entry>; damaged?: string }> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
        // No file says the same as one without entries.
        this.#written = textOf({ next: 1, transfers: [] });
        return {};
      }
      throw fileError('CONFIG_INVALID', this.#file, 'read', cause);
    }
    const state = parsed<Entry>(text);
    if (state !== undefined) {
      this.#written = text;
      return { state };
    }
    const damaged = `${this.#file}.damaged-${Date.now()}`;
    await rename(this.#file, damaged);
    return { damaged };
  }

  /** Resolves once what `state` returns, at a moment after this call, is on the disk. @throws DISK_FULL, CONFIG_INVALID */
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
    const text = textOf(state);
    // A full disk must not fail a state that is on it already.
    if (text === this.#written) return;
    this.#written = undefined;
    await writePrivate(this.#file, Buffer.from(text), { replace: true }, 'CONFIG_INVALID');
    this.#written = text;
  }
}

function textOf({ next, transfers }: JournalState<unknown>): string {
  return JSON.stringify({ v: VERSION, next, transfers });
}

function parsed<Entry>(text: string): JournalState<Entry> | undefined {
  try {
    const { v, next, transfers } = JSON.parse(text);
    return v === VERSION && Number.isSafeInteger(next) && Array.isArray(transfers) ? { next, transfers } : undefined;
  } catch {
    return undefined;
  }
}

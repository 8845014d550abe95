// SPDX-License-Identifier: MPL-2.0
import { readFile, rename } from 'node:fs/promises';
import { KeibiError } from '@keibidrop/protocol';
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
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw unusable(this.#file, 'read', cause);
    }
    const state = parsed<Entry>(text);
    if (state !== undefined) return { state };
    const damaged = `${this.#file}.damaged-${Date.now()}`;
    await rename(this.#file, damaged);
    return { damaged };
  }

  /** Resolves once what `state` returns, at a moment after this call, is on the disk. @throws CONFIG_INVALID if it cannot be */
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

  async #put({ next, transfers }: JournalState<Entry>): Promise<void> {
    const bytes = Buffer.from(JSON.stringify({ v: VERSION, next, transfers }));
    await writePrivate(this.#file, bytes, { replace: true }, 'CONFIG_INVALID');
  }
}

function parsed<Entry>(text: string): JournalState<Entry> | undefined {
  try {
    const { v, next, transfers } = JSON.parse(text);
    return v === VERSION && Number.isSafeInteger(next) && Array.isArray(transfers) ? { next, transfers } : undefined;
  } catch {
    return undefined;
  }
}

function unusable(file: string, how: string, cause: unknown): KeibiError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new KeibiError('CONFIG_INVALID', `${file} cannot be ${how}: ${reason}.`, { cause });
}

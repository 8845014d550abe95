// SPDX-License-Identifier: MPL-2.0
import { constants, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import type { HistoryLimits } from '@keibidrop/settings';
import { fileError, withLock, writePrivate } from '@keibidrop/settings/files';

/** One send or receive that has ended. */
export interface HistoryEntry {
  /** ISO 8601, when it ended. */
  time: string;
  kind: 'send' | 'receive';
  /** The names of the offered files. */
  what: string;
  /** The contact's name, or the peer's own display name; '' if no peer connected. */
  with: string;
  /** `with` is a contact's name. */
  contact: boolean;
  /** The destination, or the folder of the sent files. */
  place: string;
  /** The path of the connection: `local`, `lan`, …; absent without a connection. */
  path?: string | undefined;
  files: number;
  bytes: number;
  seconds: number;
  bytesPerSecond: number;
  /** `OK`, or an ErrorCode. */
  result: string;
}

const FILE = 'history.jsonl';
/** The file is pruned when it exceeds its limit by this factor, not at every entry. */
const SLACK = 1.1;
const DAY_MS = 86_400_000;
const MAX_LINE_BYTES = 16 * 1024;

/** Finished transfers, one JSON object per line, in a file that only this user can read. Any number of processes may add. */
export class History {
  readonly #file: string;
  readonly #limits: () => Promise<HistoryLimits>;
  /** Resolves once all entries added here are in the file. */
  #added: Promise<void> = Promise.resolve();

  constructor(directory: string, limits: () => Promise<HistoryLimits>) {
    this.#file = join(directory, FILE);
    this.#limits = limits;
  }

  /** @throws DISK_FULL, CONFIG_INVALID */
  add(entry: HistoryEntry): Promise<void> {
    const added = this.#added.catch(() => {}).then(() => this.#add(entry));
    this.#added = added;
    return added;
  }

  async #add(entry: HistoryEntry): Promise<void> {
    const limits = await this.#limits();
    if (limits.entries === 0) return this.#forget();
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    if (line.length > MAX_LINE_BYTES) throw new KeibiError('INTERNAL', 'bug: a line of the history is too long');
    await this.#alone(async () => {
      const file = await open(this.#file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
      try {
        const { size } = await file.stat();
        const last = size === 0 ? undefined : (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer[0];
        // Ends a line that a power cut has torn, so that only that entry is lost.
        const whole = last === undefined || last === 0x0a ? line : Buffer.concat([Buffer.from('\n'), line]);
        await file.appendFile(whole);
      } finally {
        await file.close();
      }
      await this.#prune(limits);
    });
  }

  /** Lists the newest entries first, at most `limit`, including all that this object has added. */
  async list(limit: number): Promise<HistoryEntry[]> {
    await this.#added.catch(() => {});
    const { days, entries: most } = await this.#limits();
    if (most === 0) {
      await this.#forget();
      return [];
    }
    const entries = entriesIn(await this.#text()).filter(({ time }) => isYounger(time, days));
    return entries.slice(-most).reverse().slice(0, limit);
  }

  /** @returns  the number of removed entries */
  async clear(): Promise<number> {
    return this.#alone(async () => {
      const { length } = entriesIn(await this.#text());
      await rm(this.#file, { force: true });
      return length;
    });
  }

  /** A limit of 0 also removes earlier entries. */
  async #forget(): Promise<void> {
    if ((await this.#text()) !== '') await this.clear();
  }

  async #prune({ entries, days }: HistoryLimits): Promise<void> {
    const text = await this.#text();
    const all = entriesIn(text);
    const [oldest] = all;
    const tooMany = all.length > Math.ceil(entries * SLACK);
    if (!tooMany && (oldest === undefined || isYounger(oldest.time, days + 1))) return;
    const kept = all.filter(({ time }) => isYounger(time, days)).slice(-entries);
    const lines = Buffer.from(kept.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await writePrivate(this.#file, lines, { replace: true }, 'CONFIG_INVALID');
  }

  async #text(): Promise<string> {
    try {
      return await readFile(this.#file, 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw this.#unusable(cause);
    }
  }

  #unusable(cause: unknown): KeibiError {
    return fileError('CONFIG_INVALID', `The history ${this.#file}`, 'used', cause);
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    try {
      await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
      return await withLock(`${this.#file}.lock`, work);
    } catch (cause) {
      throw this.#unusable(cause);
    }
  }
}

/** Skips malformed lines. */
function entriesIn(text: string): HistoryEntry[] {
  return text.split('\n').flatMap((line) => {
    try {
      const entry = JSON.parse(line);
      return isEntry(entry) ? [entry] : [];
    } catch {
      return [];
    }
  });
}

function isEntry(value: unknown): value is HistoryEntry {
  if (typeof value !== 'object' || value === null) return false;
  const entry = value as Record<keyof HistoryEntry, unknown>;
  const texts = [entry.time, entry.what, entry.with, entry.place, entry.result];
  const numbers = [entry.files, entry.bytes, entry.seconds, entry.bytesPerSecond];
  return (
    texts.every((text) => typeof text === 'string') &&
    numbers.every((number) => typeof number === 'number') &&
    (entry.kind === 'send' || entry.kind === 'receive')
  );
}

function isYounger(time: string, days: number): boolean {
  return Date.now() - Date.parse(time) < days * DAY_MS;
}

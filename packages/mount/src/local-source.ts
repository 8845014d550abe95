// SPDX-License-Identifier: MPL-2.0
import { statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { ChangeWatch, fillCache, SharedFolder } from '@keibidrop/native';
import { checkSharePath, decodePage, type Entry, type ErrorCode, KeibiError } from '@keibidrop/protocol';
import { LocalWrites } from './local-writes.ts';
import type {
  MountSource,
  SourceEntry,
  SourceListing,
  SourceNotice,
  SourceWrites,
  WantedBlocks,
  WantedFile,
} from './mount-source.ts';

/** What native says of a disk, in the words of a source. */
const TOLD: Readonly<Record<string, ErrorCode>> = {
  TRANSFER_PATH_REFUSED: 'SHARE_PATH_REFUSED',
  TRANSFER_SOURCE_MISSING: 'SHARE_NOT_FOUND',
  TRANSFER_SOURCE_UNREADABLE: 'SHARE_UNREADABLE',
  TRANSFER_SOURCE_UNSUPPORTED: 'SHARE_UNREADABLE',
};
/** A disk is near: a few MiB ahead keep it busy. */
const AHEAD_BLOCKS = 128;

/**
 * A folder of this machine, mounted somewhere else: what every other source is held against, by the contract and by the measurements. Nothing
 * outside the folder is reached, and what changes there is told as a share tells it.
 */
export class LocalSource implements MountSource {
  readonly name: string;
  readonly writes: SourceWrites | undefined;
  readonly #path: string;
  readonly #folder: SharedFolder;
  readonly #closing = new AbortController();

  /** @param path  of the folder; absolute */
  constructor(path: string, { readOnly = false }: { readOnly?: boolean } = {}) {
    this.#path = path;
    this.name = basename(path) || 'root';
    this.#folder = new SharedFolder(path, this.name);
    this.writes = readOnly ? undefined : new LocalWrites(path, (beneath, options) => this.stat(beneath, options));
  }

  async *list(path: string, { signal }: { signal: AbortSignal }): AsyncGenerator<SourceListing> {
    signal.throwIfAborted();
    const listing = await told(this.#folder.list(checkSharePath(path)));
    try {
      for (let ended = false; !ended; ) {
        const { entries, leftOut, last } = await told(listing.next());
        signal.throwIfAborted();
        ended = last;
        yield { entries: decodePage(entries, 0).map(sourceEntry), leftOut };
      }
    } finally {
      await listing.close();
    }
  }

  async stat(path: string, { signal }: { signal: AbortSignal }): Promise<SourceEntry> {
    signal.throwIfAborted();
    const [entry] = decodePage(await told(this.#folder.look(checkSharePath(path))), 0);
    signal.throwIfAborted();
    return sourceEntry(entry as Entry);
  }

  async *watch({ signal }: { signal: AbortSignal }): AsyncGenerator<SourceNotice> {
    const over = AbortSignal.any([signal, this.#closing.signal]);
    let wake = () => {};
    let news = Promise.resolve();
    const wait = () => {
      news = new Promise((resolve) => {
        wake = resolve;
      });
    };
    wait();
    const watch = new ChangeWatch(this.#path, () => wake());
    const onAbort = () => wake();
    over.addEventListener('abort', onAbort, { once: true });
    try {
      for (let told = false; ; ) {
        await news;
        wait();
        over.throwIfAborted();
        const { changes, watching, missed, trouble } = watch.take();
        if (!watching && trouble === undefined) continue;
        yield { changes, lookAgain: missed || !told, incomplete: trouble !== undefined };
        told = true;
      }
    } finally {
      over.removeEventListener('abort', onAbort);
      await watch.close();
    }
  }

  async want(
    { path, size, mtimeNs, directory, key }: WantedFile,
    { first, count, ahead }: WantedBlocks,
    { signal }: { signal: AbortSignal },
  ): Promise<{ aheadBlocks: number }> {
    signal.throwIfAborted();
    const content = { folder: this.#path, path: checkSharePath(path), size, mtimeNs, directory, key };
    if (count > 0) await told(fillCache({ ...content, first, count }));
    // Nobody waits for it; whoever wants it after all hears why it failed.
    if (ahead > 0) fillCache({ ...content, first: first + count, count: ahead }).catch(() => {});
    signal.throwIfAborted();
    return { aheadBlocks: AHEAD_BLOCKS };
  }

  release(): void {}

  async space(): Promise<{ totalBytes: number; freeBytes: number }> {
    const { blocks, bavail, bsize } = await statfs(this.#path);
    return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
  }

  async close(): Promise<void> {
    this.#closing.abort(new KeibiError('SESSION_CLOSED'));
  }
}

function sourceEntry({ type, name, size, mtimeNs, mode, target }: Entry): SourceEntry {
  if (type === 'stream') throw new KeibiError('INTERNAL');
  return { type, name, size, mtimeNs, mode, ...(target !== undefined && { target }) };
}

async function told<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (reason) {
    const { code = '' } = reason as { code?: string };
    const named = TOLD[code];
    throw named === undefined
      ? KeibiError.from(reason, 'INTERNAL')
      : new KeibiError(named, undefined, { cause: reason });
  }
}

// SPDX-License-Identifier: MPL-2.0
import { statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { ChangeWatch, fillCache, SharedFolder } from '@keibidrop/native';
import {
  type CachedFile,
  checkSharePath,
  decodePage,
  type Entry,
  KeibiError,
  type ShareEntry,
  type ShareListing,
  type ShareNotice,
  type WantedBlocks,
} from '@keibidrop/protocol';
import type { MountSource, SourceWrites } from '../mount-source.ts';
import { sourceEntry, withSourceErrors } from './local-entry.ts';
import { LocalWrites } from './local-writes.ts';

/** A disk is near: a few MiB ahead keep it busy. */
const AHEAD_BLOCKS = 128;

/**
 * A folder of this machine, mounted somewhere else: the reference for other sources in contract tests and measurements.
 * Nothing outside the folder is reachable, and changes are reported as a share reports them.
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
    this.writes = readOnly ? undefined : new LocalWrites(path);
  }

  async *list(path: string, { signal }: { signal: AbortSignal }): AsyncGenerator<ShareListing> {
    signal.throwIfAborted();
    const listing = await withSourceErrors(this.#folder.list(checkSharePath(path)));
    try {
      for (let ended = false; !ended; ) {
        const { entries, leftOut, last } = await withSourceErrors(listing.next());
        signal.throwIfAborted();
        ended = last;
        yield { entries: decodePage(entries, 0).map(sourceEntry), leftOut };
      }
    } finally {
      await listing.close();
    }
  }

  async stat(path: string, { signal }: { signal: AbortSignal }): Promise<ShareEntry> {
    signal.throwIfAborted();
    const [entry] = decodePage(await withSourceErrors(this.#folder.look(checkSharePath(path))), 0);
    signal.throwIfAborted();
    return sourceEntry(entry as Entry);
  }

  async *watch({ signal }: { signal: AbortSignal }): AsyncGenerator<ShareNotice> {
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
      for (let reported = false; ; ) {
        await news;
        wait();
        over.throwIfAborted();
        const { changes, watching, missed, trouble } = watch.take();
        if (!watching && trouble === undefined) continue;
        yield { changes, lookAgain: missed || !reported, incomplete: trouble !== undefined };
        reported = true;
      }
    } finally {
      over.removeEventListener('abort', onAbort);
      await watch.close();
    }
  }

  async want(
    { path, size, mtimeNs, directory, key }: CachedFile,
    { first, count, ahead }: WantedBlocks,
    { signal }: { signal: AbortSignal },
  ): Promise<{ aheadBlocks: number }> {
    signal.throwIfAborted();
    const content = { folder: this.#path, path: checkSharePath(path), size, mtimeNs, directory, key };
    if (count > 0) await withSourceErrors(fillCache({ ...content, first, count }));
    // No caller waits for it: a later want reports its own failure.
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

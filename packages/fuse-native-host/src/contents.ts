// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeWantAnswer, rules } from '@keibidrop/proto/mount-host';
import type { FileVersion } from '@keibidrop/protocol';
import { Failure } from './failure.ts';
import type { Link } from './link.ts';

const {
  CACHE_BLOCK_BYTES: BLOCK_BYTES,
  WHOLE_READ_BYTES,
  UNEARNED_BLOCKS,
  FIRST_AHEAD_BLOCKS,
  LEAST_OPEN_BYTES,
} = rules;
/** Where the map has its bits (native/src/remote/cache_file.h). */
const MAP_HEAD_BYTES = 64;
/** The unit of st_blocks (stat(3type)). */
const DISK_BLOCK_BYTES = 512;

export function sameVersion(one: FileVersion, other: FileVersion): boolean {
  return one.size === other.size && one.mtimeNs === other.mtimeNs;
}

/** One version of one file. */
export interface Content extends FileVersion {
  readonly key: string;
  users: number;
  /** Reads that are under way. */
  reads: number;
  /** Bytes that were fetched, or are about to be. */
  fetched: number;
  /** Resolves when the cached bytes are dropped: no read runs meanwhile. */
  startingOver: Promise<void> | undefined;
  files: { data: FileHandle; map: FileHandle } | undefined;
}

/** Where a reader is: a sequential reader gets more fetched than it requests. */
export interface Position {
  next: number;
  /** Where it was jumped to. */
  begun: number;
  /** The first block that was not asked for yet. */
  aheadUntil: number;
}

/** The cache: open contents, and closed ones as long as there is room. */
export class Contents {
  readonly #directory: string;
  readonly #mostBytes: number;
  readonly #link: Link;
  readonly #open = new Map<string, Content>();
  /** Bytes on the disk, by key; those first that were closed longest ago. */
  readonly #closed = new Map<string, number>();
  #closedBytes = 0;
  #aheadBlocks: number = FIRST_AHEAD_BLOCKS;

  constructor(directory: string, mostBytes: number, link: Link) {
    this.#directory = directory;
    this.#mostBytes = mostBytes;
    this.#link = link;
  }

  /** Takes away what an earlier mount has left. */
  async clear(): Promise<void> {
    for (const name of await readdir(this.#directory))
      if (/^[0-9a-f]{32}\.(data|map)$/.test(name)) await unlink(join(this.#directory, name));
  }

  open(path: string, { size, mtimeNs }: FileVersion): Content {
    const key = createHash('sha256').update(`${path}\0${size}\0${mtimeNs}`).digest('hex').slice(0, 32);
    const content = this.#open.get(key) ?? {
      key,
      size,
      mtimeNs,
      users: 0,
      reads: 0,
      fetched: 0,
      startingOver: undefined,
      files: undefined,
    };
    content.users++;
    this.#open.set(key, content);
    this.#closedBytes -= this.#closed.get(key) ?? 0;
    this.#closed.delete(key);
    return content;
  }

  /** @param kept  it may be read again: else it goes, since the file is about to be another */
  async close(content: Content, { kept = true } = {}): Promise<void> {
    if (--content.users > 0) return;
    const { key, files } = content;
    const bytes = files === undefined ? 0 : (await files.data.stat()).blocks * DISK_BLOCK_BYTES;
    // Another call may have opened it meanwhile.
    if (content.users > 0 || this.#open.get(key) !== content) return;
    this.#open.delete(key);
    this.#link.report({ type: 'release', key });
    await Promise.all([files?.data.close(), files?.map.close()]);
    content.files = undefined;
    if (this.#open.has(key)) return;
    if (!kept) return this.#drop(key);
    this.#closed.set(key, bytes);
    this.#closedBytes += bytes;
    for (const [oldest, itsBytes] of this.#closed) {
      if (this.#closedBytes <= this.#mostBytes) break;
      this.#closed.delete(oldest);
      this.#closedBytes -= itsBytes;
      await this.#drop(oldest);
    }
  }

  /**
   * Fills `buffer` from `offset` on, within the content.
   *
   * @throws Failure: ESTALE when the file is another by now
   */
  async read(content: Content, path: string, buffer: Uint8Array, offset: number, position?: Position): Promise<void> {
    while (content.startingOver !== undefined) await content.startingOver;
    content.reads++;
    try {
      await this.#read(content, path, buffer, offset, position);
    } finally {
      content.reads--;
      if (content.reads === 0 && content.fetched > Math.max(this.#mostBytes, LEAST_OPEN_BYTES)) {
        content.startingOver = this.#startOver(content).finally(() => {
          content.startingOver = undefined;
        });
        await content.startingOver;
      }
    }
  }

  async #read(
    content: Content,
    path: string,
    buffer: Uint8Array,
    offset: number,
    position: Position | undefined,
  ): Promise<void> {
    if (buffer.length === 0) return;
    const first = Math.floor(offset / BLOCK_BYTES);
    const end = Math.floor((offset + buffer.length - 1) / BLOCK_BYTES) + 1;
    const blocks = Math.ceil(content.size / BLOCK_BYTES);
    const goesOn = position?.next === offset;
    if (position !== undefined) {
      if (!goesOn) Object.assign(position, { begun: offset, aheadUntil: 0 });
      position.next = offset + buffer.length;
    }
    // The window is earned, as native/src/mount/read_ahead.h has it: no longer than the bytes read in order.
    const run = goesOn && position !== undefined ? Math.ceil((position.next - position.begun) / BLOCK_BYTES) : 0;
    const window = run > UNEARNED_BLOCKS ? Math.min(run, this.#aheadBlocks) : 0;
    const missing = await this.#firstMissing(content, first, end);
    if (missing < end) {
      const until = content.size <= WHOLE_READ_BYTES ? blocks : end;
      const ahead = Math.min(window, blocks - until);
      await this.#want(content, path, missing, until - missing, ahead);
      if (position !== undefined) position.aheadUntil = until + ahead;
      if ((await this.#firstMissing(content, first, end)) < end) throw new Failure('EIO');
    } else if (window > 0 && position !== undefined && end + window / 2 > position.aheadUntil) {
      const from = Math.max(position.aheadUntil, end);
      const until = Math.min(from + window, blocks);
      position.aheadUntil = Math.max(until, from);
      const lacking = until > from ? await this.#firstMissing(content, from, until) : until;
      // No caller waits for it: a later read reports its own failure.
      if (lacking < until) void this.#want(content, path, lacking, 0, until - lacking).catch(() => {});
    }
    const { data } = await this.#files(content);
    for (let done = 0; done < buffer.length; ) {
      const { bytesRead } = await data.read(buffer, done, buffer.length - done, offset + done);
      if (bytesRead === 0) throw new Failure('EIO');
      done += bytesRead;
    }
  }

  async #want(content: Content, path: string, first: number, count: number, ahead: number): Promise<void> {
    const { key, size, mtimeNs } = content;
    content.fetched += (count + ahead) * BLOCK_BYTES;
    const answer = await this.#link.ask({ type: 'want', key, size, mtimeNs, first, count, ahead, path });
    this.#aheadBlocks = decodeWantAnswer(answer).aheadBlocks;
  }

  /** The open file alone exceeds the limit: drops all of it, to be fetched again. */
  async #startOver(content: Content): Promise<void> {
    const { files, key } = content;
    content.files = undefined;
    content.fetched = 0;
    this.#link.report({ type: 'release', key });
    await this.#drop(key);
    await Promise.all([files?.data.close(), files?.map.close()]);
  }

  async #firstMissing(content: Content, first: number, end: number): Promise<number> {
    const files = await this.#files(content).catch(() => undefined);
    if (files === undefined) return first;
    const start = first >> 3;
    const bits = Buffer.alloc(((end - 1) >> 3) - start + 1);
    await files.map.read(bits, 0, bits.length, MAP_HEAD_BYTES + start);
    for (let block = first; block < end; block++) {
      // Words of 64 bits, in the order of a machine that begins with the lowest.
      if ((((bits[(block >> 3) - start] ?? 0) >> (block & 7)) & 1) === 0) return block;
    }
    return end;
  }

  /** @throws ENOENT before anything of it was wanted */
  async #files(content: Content): Promise<{ data: FileHandle; map: FileHandle }> {
    if (content.files !== undefined) return content.files;
    const map = await open(join(this.#directory, `${content.key}.map`));
    const data = await open(join(this.#directory, `${content.key}.data`)).catch(async (reason) => {
      await map.close();
      throw reason;
    });
    const raced = content.files as Content['files'];
    if (raced !== undefined || content.users === 0) {
      await Promise.all([map.close(), data.close()]);
      if (raced === undefined) throw new Failure('EBADF');
      return raced;
    }
    content.files = { data, map };
    return content.files;
  }

  /** The map first: its blocks must be in the data file. */
  async #drop(key: string): Promise<void> {
    for (const end of ['.map', '.data']) await unlink(join(this.#directory, key + end)).catch(() => {});
  }
}

// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  type FileHandle,
  lstat,
  lutimes,
  mkdir,
  open,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { callFailure, checkSharePath, KeibiError } from '@keibidrop/protocol';
import type { ChangedFile, SourceEntry, SourceWrites } from './mount-source.ts';

type Options = { signal: AbortSignal };

const COPY_BYTES = 2 ** 20;
/** What puts have left of files, remembered for so many tokens. */
const MOST_LEFT = 1024;

/** What changes a folder of this machine. */
export class LocalWrites implements SourceWrites {
  readonly #folder: string;
  readonly #stat: (path: string, options: Options) => Promise<SourceEntry>;
  readonly #left = new Map<string, { size: number; mtimeNs: bigint }>();

  constructor(folder: string, stat: (path: string, options: Options) => Promise<SourceEntry>) {
    this.#folder = folder;
    this.#stat = stat;
  }

  async create(path: string, options: Options & { mode: number }): Promise<SourceEntry> {
    const file = await done(options, () => open(this.#at(path), 'wx', options.mode));
    await file.close();
    return this.#stat(path, options);
  }

  async makeDirectory(path: string, options: Options & { mode: number }): Promise<SourceEntry> {
    await done(options, () => mkdir(this.#at(path), options.mode));
    return this.#stat(path, options);
  }

  async makeSymlink(path: string, options: Options & { target: string }): Promise<SourceEntry> {
    await done(options, () => symlink(options.target, this.#at(path)));
    return this.#stat(path, options);
  }

  remove(path: string, options: Options & { directory: boolean }): Promise<void> {
    return done(options, () => (options.directory ? rmdir(this.#at(path)) : unlink(this.#at(path))));
  }

  async rename(from: string, to: string, options: Options & { how: 'replace' | 'keep' | 'exchange' }): Promise<void> {
    const [one, other] = [this.#at(from), this.#at(to)];
    await done(options, async () => {
      if (options.how === 'replace') return rename(one, other);
      const taken = await lstat(other).then(
        () => true,
        () => false,
      );
      if (options.how === 'keep') {
        if (taken) throw callFailure('EEXIST');
        return rename(one, other);
      }
      if (!taken) throw callFailure('ENOENT');
      const aside = `${one}.${randomBytes(4).toString('hex')}`;
      await rename(one, aside);
      await rename(other, one);
      await rename(aside, other);
    });
  }

  async change(path: string, options: Options & { mode?: number; mtimeNs?: bigint }): Promise<SourceEntry> {
    const { mode, mtimeNs } = options;
    await done(options, async () => {
      if (mode !== undefined) await chmod(this.#at(path), mode);
      if (mtimeNs !== undefined) await lutimes(this.#at(path), seconds(mtimeNs), seconds(mtimeNs));
    });
    return this.#stat(path, options);
  }

  async copy(from: string, to: string, options: Options): Promise<SourceEntry> {
    await done(options, () => copyFile(this.#at(from), this.#at(to), constants.COPYFILE_EXCL));
    return this.#stat(to, options);
  }

  getAttribute(): Promise<Uint8Array> {
    return Promise.reject(callFailure('ENOTSUP'));
  }

  setAttribute(): Promise<void> {
    return Promise.reject(callFailure('ENOTSUP'));
  }

  removeAttribute(): Promise<void> {
    return Promise.reject(callFailure('ENOTSUP'));
  }

  async listAttributes(): Promise<string[]> {
    return [];
  }

  async syncDirectory(path: string, options: Options): Promise<void> {
    await done(options, async () => {
      const directory = await open(path === '' ? this.#folder : this.#at(path), 'r');
      await directory.sync().finally(() => directory.close());
    });
  }

  async put(file: ChangedFile, options: Options): Promise<SourceEntry> {
    const { path, token } = file;
    await done(options, async () => {
      const there = await this.#openBase(file, options);
      try {
        await write(there, file);
      } finally {
        await there.close();
      }
    });
    const now = await this.#stat(path, options);
    this.#left.delete(token);
    this.#left.set(token, { size: now.size, mtimeNs: now.mtimeNs });
    for (const [oldest] of this.#left) if (this.#left.size > MOST_LEFT) this.#left.delete(oldest);
    return now;
  }

  async #openBase({ path, base, token }: ChangedFile, options: Options): Promise<FileHandle> {
    const now = await this.#stat(path, options);
    const left = this.#left.get(token);
    const same = (known: { size: number; mtimeNs: bigint }) => known.size === now.size && known.mtimeNs === now.mtimeNs;
    if (base !== undefined && !same(base) && !(left !== undefined && same(left))) {
      throw new KeibiError('TRANSFER_SOURCE_CHANGED');
    }
    return open(this.#at(path), 'r+');
  }

  #at(path: string): string {
    const checked = checkSharePath(path);
    if (checked === '') throw callFailure('EBUSY');
    return join(this.#folder, checked);
  }
}

async function write(there: FileHandle, { size, mtimeNs, directory, key, ranges, keep, sync }: ChangedFile) {
  await there.truncate(keep);
  if (ranges.length > 0) {
    const draft = await open(join(directory, `${key}.data`), 'r');
    try {
      for (const { offset, length } of ranges) await copyRange(draft, there, offset, length);
    } finally {
      await draft.close();
    }
  }
  await there.truncate(size);
  await there.utimes(seconds(mtimeNs), seconds(mtimeNs));
  if (sync) await there.sync();
}

async function copyRange(from: FileHandle, to: FileHandle, offset: number, length: number): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(length, COPY_BYTES));
  for (let at = offset; at < offset + length; ) {
    const { bytesRead } = await from.read(buffer, 0, Math.min(buffer.length, offset + length - at), at);
    if (bytesRead === 0) throw new KeibiError('TRANSFER_SIZE_MISMATCH');
    await to.write(buffer, 0, bytesRead, at);
    at += bytesRead;
  }
}

const seconds = (ns: bigint) => Number(ns) / 1e9;

async function done<T>({ signal }: Options, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  try {
    return await work();
  } catch (reason) {
    if (reason instanceof KeibiError) throw reason;
    throw callFailure((reason as NodeJS.ErrnoException).code, { cause: reason });
  }
}

// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { constants, type FileHandle, lstat, mkdir, open, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkName, KeibiError, MAX_DEPTH, messageFor } from '@keibidrop/protocol';
import { freeBytes } from '../free-space.ts';

const ID_BYTES = 16;
/** Limit of drops that are not sent yet. */
const MAX_OPEN = 64;
/** Space that uploads leave free on the disk. */
const KEPT_FREE = 16 * 2 ** 20;
/** An unsent drop without an upload for this time is removed. */
const IDLE_MS = 60 * 60_000;

/** One upload into a drop. */
export interface Upload {
  /** Its length. */
  bytes: number;
  /** Its mtime, in milliseconds since 1970. */
  modified: number | undefined;
  /** Ends with an error if the upload is aborted; `signal` aborts it. */
  body(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

interface Drop {
  readonly folder: string;
  /** Names at its top, in order of arrival. */
  readonly tops: Set<string>;
  /** Running uploads. */
  readonly running: Set<Promise<void>>;
  /** Aborts them. */
  readonly ending: AbortController;
  idle: NodeJS.Timeout | undefined;
  /** A transfer owns it. */
  taken: boolean;
}

/**
 * Files that arrive without a path, from a browser, until they are sent.
 *
 * Each drop is a folder of this user only. It contains only uploaded files, under checked names. It is opened and filled; then
 * one transfer takes it and removes it when done, or it is removed unsent. The next daemon removes the leftovers of one that
 * was killed.
 */
export class Drops {
  readonly #root: string;
  readonly #drops = new Map<string, Drop>();
  /** Bytes that running uploads have still to send. */
  #reserved = 0;

  /** @param root  the folder of all drops; created when needed */
  constructor(root: string) {
    this.#root = root;
  }

  /** Removes the drops that no transfer has taken. @param taken  by unfinished transfers of an earlier daemon */
  async restore(taken: readonly string[]): Promise<void> {
    for (const id of taken) this.#drops.set(id, { ...fresh(join(this.#root, id)), taken: true });
    const left = await readdir(this.#root).catch(() => []);
    for (const name of left) {
      if (!this.#drops.has(name)) await rm(join(this.#root, name), { recursive: true, force: true });
    }
  }

  /** Opens a drop. @param bytes  expected size, if known @throws TRANSFER_DISK_FULL, TRANSFER_LIMIT_EXCEEDED */
  async open(bytes = 0): Promise<string> {
    if ([...this.#drops.values()].filter(({ taken }) => !taken).length >= MAX_OPEN) {
      throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'Too many drops wait to be sent.');
    }
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    if (!(await lstat(this.#root)).isDirectory()) throw unusable(this.#root);
    await this.#assertRoom(bytes);
    const id = randomBytes(ID_BYTES).toString('hex');
    const folder = join(await realpath(this.#root), id);
    await mkdir(folder, { mode: 0o700 });
    const drop = fresh(folder);
    this.#drops.set(id, drop);
    this.#wait(id, drop);
    return id;
  }

  /**
   * Adds a file. Resolves when the whole file is stored; on failure nothing of it remains.
   *
   * @param path  its names, from the top of the drop
   * @throws DROP_UNKNOWN, TRANSFER_PATH_REFUSED, TRANSFER_DISK_FULL; USAGE if the file exists already or differs from its
   * announced length
   */
  put(id: string, path: readonly string[], upload: Upload): Promise<void> {
    return this.#change(id, path, async (drop) => {
      await this.#assertRoom(upload.bytes);
      const folder = await this.#folder(drop, path.slice(0, -1));
      await this.#write(join(folder, path.at(-1) as string), upload, drop.ending.signal);
    });
  }

  /** Adds a folder, unless it exists. Throws as `put`. */
  putFolder(id: string, path: readonly string[]): Promise<void> {
    return this.#change(id, path, async (drop) => void (await this.#folder(drop, path)));
  }

  /** Removes a drop from the disk, even if a transfer has taken it. Idempotent. */
  async remove(id: string): Promise<void> {
    const drop = this.#drops.get(id);
    if (drop === undefined) return;
    this.#drops.delete(id);
    clearTimeout(drop.idle);
    drop.ending.abort(new KeibiError('CANCELLED'));
    await Promise.allSettled(drop.running);
    await rm(drop.folder, { recursive: true, force: true });
  }

  /**
   * Hands a drop over to a transfer. @returns  the absolute paths at its top @throws DROP_UNKNOWN; USAGE while uploads run, or
   * if it is empty
   */
  take(id: string): string[] {
    const drop = this.#known(id);
    const { folder, tops, running, idle } = drop;
    if (running.size > 0) throw new KeibiError('USAGE', 'The drop is still being uploaded.');
    if (tops.size === 0) throw new KeibiError('USAGE', 'Nothing was uploaded.');
    clearTimeout(idle);
    drop.taken = true;
    return [...tops].map((name) => join(folder, name));
  }

  /** The transfer that took it was not created. */
  giveBack(id: string): void {
    const drop = this.#drops.get(id);
    if (drop === undefined) return;
    drop.taken = false;
    this.#wait(id, drop);
  }

  /** True while a transfer owns it and it exists. */
  isTaken(id: string): boolean {
    return this.#drops.get(id)?.taken === true;
  }

  /** Removes all drops that no transfer has taken. */
  async close(): Promise<void> {
    const open = [...this.#drops].filter(([, { taken }]) => !taken);
    await Promise.all(open.map(([id]) => this.remove(id)));
  }

  #known(id: string): Drop {
    const drop = this.#drops.get(id);
    if (drop === undefined || drop.taken) throw new KeibiError('DROP_UNKNOWN');
    return drop;
  }

  #wait(id: string, drop: Drop): void {
    clearTimeout(drop.idle);
    drop.idle = setTimeout(() => void this.remove(id), IDLE_MS).unref();
  }

  async #change(id: string, path: readonly string[], make: (drop: Drop) => Promise<void>): Promise<void> {
    const drop = this.#known(id);
    assertPath(path);
    clearTimeout(drop.idle);
    const running = make(drop).catch((reason) => {
      throw asKeibiError(reason);
    });
    drop.running.add(running);
    try {
      await running;
      drop.tops.add(path[0] as string);
    } finally {
      drop.running.delete(running);
      if (this.#drops.get(id) === drop) this.#wait(id, drop);
    }
  }

  /** Creates nested folders. Refuses a symlink that another program has placed there. */
  async #folder({ folder }: Drop, names: readonly string[]): Promise<string> {
    let path = folder;
    if (!(await lstat(folder)).isDirectory()) throw unusable(folder);
    for (const name of names) {
      path = join(path, name);
      await mkdir(path, { mode: 0o700 }).catch((reason: NodeJS.ErrnoException) => {
        if (reason.code !== 'EEXIST') throw reason;
      });
      if (!(await lstat(path)).isDirectory()) throw unusable(path);
    }
    return path;
  }

  async #write(path: string, { bytes, modified, body }: Upload, signal: AbortSignal): Promise<void> {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    signal.throwIfAborted();
    // Never opens an existing file, least of all a symlink.
    const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    let left = bytes;
    this.#reserved += bytes;
    try {
      for await (const piece of body(signal)) {
        if (piece.length > left) throw otherThanSaid();
        await writeAll(file, piece);
        left -= piece.length;
        this.#reserved -= piece.length;
      }
      if (left > 0) throw otherThanSaid();
      if (modified !== undefined) await file.utimes(new Date(), new Date(modified));
      await file.close();
    } catch (reason) {
      await file.close().catch(() => {});
      await rm(path, { force: true });
      throw reason;
    } finally {
      this.#reserved -= left;
    }
  }

  async #assertRoom(bytes: number): Promise<void> {
    const free = await freeBytes(this.#root);
    if (free !== undefined && bytes > 0 && bytes + this.#reserved + KEPT_FREE > free) throw full();
  }
}

function fresh(folder: string): Drop {
  const ending = new AbortController();
  return { folder, tops: new Set(), running: new Set(), ending, idle: undefined, taken: false };
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
}

/** @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED for a path that receivers refuse */
function assertPath(path: readonly string[]): void {
  if (path.length === 0) throw new KeibiError('TRANSFER_PATH_REFUSED');
  if (path.length > MAX_DEPTH) throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'That is in too many folders.');
  for (const [i, name] of path.entries()) checkName(name, { top: i === 0, entry: 0 });
}

function asKeibiError(reason: unknown): KeibiError {
  switch ((reason as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return full(reason);
    case 'EEXIST':
      return new KeibiError('USAGE', 'Something of that name was dropped already.', { cause: reason });
    case 'ENAMETOOLONG':
    case 'ELOOP':
    case 'ENOTDIR':
    case 'EILSEQ':
      return new KeibiError('TRANSFER_PATH_REFUSED', undefined, { cause: reason });
    case 'ECONNRESET':
      return new KeibiError('CANCELLED', undefined, { cause: reason });
    default:
      return KeibiError.from(reason, 'INTERNAL');
  }
}

function full(cause?: unknown): KeibiError {
  const text =
    'There is not enough space on this computer for the dropped files. Free some space, or use keibidrop send.';
  return new KeibiError('TRANSFER_DISK_FULL', text, { cause });
}

function otherThanSaid(): KeibiError {
  return new KeibiError('USAGE', 'The length of the upload differs from the announced length.');
}

function unusable(path: string): KeibiError {
  const message = messageFor('TRANSFER_PATH_REFUSED', `${path} is not a folder of a drop`);
  return new KeibiError('TRANSFER_PATH_REFUSED', message);
}

// SPDX-License-Identifier: MPL-2.0
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from './failure.ts';

export interface Stat {
  /** Type and permissions. */
  mode: number;
  size: number;
  mtimeMs: number;
  links: number;
}

/** The kernel's requests; each fails with an errno. Every path begins with `/`. */
export interface Operations {
  getattr(path: string, handle: number | undefined): Promise<Stat>;
  readdir(path: string): Promise<{ name: string; stat: Stat }[]>;
  readlink(path: string): Promise<string>;
  open(path: string, flags: number): Promise<number>;
  create(path: string, mode: number): Promise<number>;
  read(handle: number, buffer: Buffer, offset: number): Promise<number>;
  write(handle: number, bytes: Buffer, offset: number): Promise<number>;
  truncate(path: string, size: number, handle: number | undefined): Promise<void>;
  flush(handle: number): Promise<void>;
  fsync(handle: number): Promise<void>;
  release(handle: number): Promise<void>;
  fsyncdir(path: string): Promise<void>;
  mknod(path: string, mode: number): Promise<void>;
  mkdir(path: string, mode: number): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  chown(path: string, uid: number, gid: number): Promise<void>;
  utimens(path: string, mtimeMs: number): Promise<void>;
  getxattr(path: string, name: string): Promise<Buffer>;
  setxattr(path: string, name: string, value: Buffer, flags: number): Promise<void>;
  listxattr(path: string): Promise<Buffer>;
  removexattr(path: string, name: string): Promise<void>;
  statfs(): Promise<{ totalBytes: number; freeBytes: number }>;
}

type ErrnoOf = (reason: unknown) => number;
type Callback = (result: number, ...values: unknown[]) => void;

/**
 * The parts of fuse-native 2.2.6 that are used here. Its `_op_` methods answer the addon itself, so they can be
 * overridden.
 */
interface FuseNative {
  mount(done: (error: Error | null) => void): void;
  _fuseOptions(): string;
}

type FuseNativeClass = new (
  folder: string,
  operations: Record<string, unknown>,
  options: { timeout: false },
) => FuseNative;

const BLOCK_BYTES = 4096;
const STAT_BLOCK_BYTES = 512;
const MAX_UINT32 = 0xffff_ffff;
const NAME_BYTES = 255;
const STAT_WORDS = 18;
/** It stays, whatever Node thinks of it (dlopen(3)). */
const RTLD_NODELETE = 0x1000;

/**
 * Mounts a folder by the fuse-native that is installed at `module`; resolves when it is there.
 *
 * @param errnoOf  of whatever an operation has thrown
 */
export async function mountByFuseNative(
  module: string,
  folder: string,
  { options, operations, errnoOf }: { options: string; operations: Operations; errnoOf: ErrnoOf },
): Promise<void> {
  loadLibrary(join(dirname(module), 'prebuilds', `${process.platform}-${process.arch}`, 'libfuse.so'));
  const Base = createRequire(import.meta.url)(module) as FuseNativeClass;
  const Corrected = class extends Base {
    // It knows no big_writes, and takes no entry_timeout of 0.
    override _fuseOptions(): string {
      return `-o${options}`;
    }
    // It asks `getattr`, whatever is open.
    _op_fgetattr(signal: Callback, path: string, handle: number): void {
      operations.getattr(path, handle).then(
        (stat) => signal(0, statWords(stat)),
        (reason: unknown) => signal(-errnoOf(reason), new Uint32Array(STAT_WORDS)),
      );
    }
    // They write beyond the end of a buffer that is too short.
    _op_getxattr(signal: Callback, path: string, name: string, buffer: Buffer): void {
      giveInto(buffer, operations.getxattr(path, name), signal, errnoOf);
    }
    _op_listxattr(signal: Callback, path: string, buffer: Buffer): void {
      giveInto(buffer, operations.listxattr(path), signal, errnoOf);
    }
  };

  const fuse = new Corrected(folder, callbacksOf(operations, errnoOf), { timeout: false });
  await new Promise<void>((resolve, reject) => fuse.mount((error) => (error ? reject(error) : resolve())));
}

/** The callbacks of fuse-native. */
function callbacksOf(operations: Operations, errnoOf: ErrnoOf): Record<string, unknown> {
  const answer = (work: Promise<unknown>, done: Callback) => {
    work.then(
      (value) => done(0, value),
      (reason: unknown) => done(-errnoOf(reason)),
    );
  };
  const count = (work: Promise<number>, done: Callback) => {
    work.then(done, (reason: unknown) => done(-errnoOf(reason)));
  };
  return {
    getattr: (path: string, done: Callback) => answer(operations.getattr(path, undefined).then(statFields), done),
    readdir: (path: string, done: Callback) => {
      operations.readdir(path).then(
        (entries) =>
          done(
            0,
            entries.map(({ name }) => name),
            entries.map(({ stat }) => statFields(stat)),
          ),
        (reason: unknown) => done(-errnoOf(reason)),
      );
    },
    readlink: (path: string, done: Callback) => answer(operations.readlink(path), done),
    open: (path: string, flags: number, done: Callback) => answer(operations.open(path, flags), done),
    create: (path: string, mode: number, done: Callback) => answer(operations.create(path, mode), done),
    read: (_path: string, handle: number, buffer: Buffer, _length: number, offset: number, done: Callback) =>
      count(operations.read(handle, buffer, offset), done),
    write: (_path: string, handle: number, bytes: Buffer, _length: number, offset: number, done: Callback) =>
      count(operations.write(handle, bytes, offset), done),
    truncate: (path: string, size: number, done: Callback) => answer(operations.truncate(path, size, undefined), done),
    ftruncate: (path: string, handle: number, size: number, done: Callback) =>
      answer(operations.truncate(path, size, handle), done),
    flush: (_path: string, handle: number, done: Callback) => answer(operations.flush(handle), done),
    fsync: (_path: string, _data: number, handle: number, done: Callback) => answer(operations.fsync(handle), done),
    release: (_path: string, handle: number, done: Callback) => answer(operations.release(handle), done),
    fsyncdir: (path: string, _data: number, _handle: number, done: Callback) => answer(operations.fsyncdir(path), done),
    mknod: (path: string, mode: number, _device: number, done: Callback) => answer(operations.mknod(path, mode), done),
    mkdir: (path: string, mode: number, done: Callback) => answer(operations.mkdir(path, mode), done),
    symlink: (target: string, path: string, done: Callback) => answer(operations.symlink(target, path), done),
    link: (from: string, to: string, done: Callback) => answer(operations.link(from, to), done),
    unlink: (path: string, done: Callback) => answer(operations.unlink(path), done),
    rmdir: (path: string, done: Callback) => answer(operations.rmdir(path), done),
    rename: (from: string, to: string, done: Callback) => answer(operations.rename(from, to), done),
    chmod: (path: string, mode: number, done: Callback) => answer(operations.chmod(path, mode), done),
    chown: (path: string, uid: number, gid: number, done: Callback) => answer(operations.chown(path, uid, gid), done),
    // The addon passes the access time as `mtimeMs`.
    utimens: (path: string, _atimeMs: number, mtimeMs: number, done: Callback) =>
      answer(operations.utimens(path, mtimeMs), done),
    setxattr: (path: string, name: string, value: Buffer, _position: number, flags: number, done: Callback) =>
      answer(operations.setxattr(path, name, value, flags), done),
    removexattr: (path: string, name: string, done: Callback) => answer(operations.removexattr(path, name), done),
    // By methods of ours, but it has to know that they are there.
    fgetattr: true,
    getxattr: true,
    listxattr: true,
    statfs: (_path: string, done: Callback) => answer(operations.statfs().then(spaceFields), done),
  };
}

/** A value into a buffer of the kernel's; one of no bytes asks how long it is. */
function giveInto(buffer: Buffer, value: Promise<Buffer>, signal: Callback, errnoOf: ErrnoOf): void {
  value.then(
    (bytes) => {
      const fits = bytes.length <= buffer.length;
      if (buffer.length > 0 && fits) bytes.copy(buffer);
      signal(buffer.length > 0 && !fits ? -new Failure('ERANGE').errno : bytes.length, buffer.buffer);
    },
    (reason: unknown) => signal(-errnoOf(reason), buffer.buffer),
  );
}

/** The addon looks for libfuse.so.2, which the package has under another name. A library already loaded is found by its own name. */
function loadLibrary(path: string): void {
  try {
    process.dlopen({ exports: {} }, path, constants.dlopen.RTLD_NOW | RTLD_NODELETE);
  } catch {
    // It is no addon, of which Node complains once it is loaded; or it is not there, and that of the system is used.
  }
}

function statFields({ mode, size, mtimeMs, links }: Stat) {
  const blocks = Math.ceil(size / STAT_BLOCK_BYTES);
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  // Times before 1970 cannot be represented.
  const time = Math.max(mtimeMs, 0);
  return { mode, size, ...owner, nlink: links, blksize: BLOCK_BYTES, blocks, atime: time, mtime: time, ctime: time };
}

/** The same in the words that the addon takes. */
function statWords(stat: Stat): Uint32Array {
  const { mode, uid, gid, size, nlink, blksize, blocks, mtime } = statFields(stat);
  const two = (value: number) => [value % 2 ** 32, Math.floor(value / 2 ** 32)];
  const times = [mtime, mtime, mtime].flatMap(two);
  return Uint32Array.from([mode, uid, gid, ...two(size), 0, nlink, 0, 0, blksize, ...two(blocks), ...times]);
}

/** Counted in blocks that are large enough for 32 bits. */
function spaceFields({ totalBytes, freeBytes }: { totalBytes: number; freeBytes: number }) {
  let blockBytes = BLOCK_BYTES;
  while (totalBytes / blockBytes > MAX_UINT32) blockBytes *= 2;
  const free = Math.floor(freeBytes / blockBytes);
  const blocks = Math.floor(totalBytes / blockBytes);
  return { bsize: blockBytes, frsize: blockBytes, blocks, bfree: free, bavail: free, namemax: NAME_BYTES };
}

// SPDX-License-Identifier: MPL-2.0

/** One file, directory or symlink of a source. */
export interface SourceEntry {
  type: 'file' | 'directory' | 'symlink';
  name: string;
  /** Bytes of a file; 0 for anything else. */
  size: number;
  /** Nanoseconds since 1970. */
  mtimeNs: bigint;
  /** Permission bits, 0 to 0o777. */
  mode: number;
  /** Where a symlink points, which is never followed. */
  target?: string;
}

/** A part of a directory. */
export interface SourceListing {
  entries: readonly SourceEntry[];
  /** What stands there too and cannot be told. */
  leftOut: number;
}

export interface SourceChange {
  /** `made`, `removed`: of a directory with all that is, or was, below it. */
  kind: 'made' | 'changed' | 'removed';
  path: string;
}

/** What has changed since the notice before. */
export interface SourceNotice {
  changes: readonly SourceChange[];
  /** More has changed than is told: everything may have. */
  lookAgain: boolean;
  /** Changes in a part of the source are not told at all. */
  incomplete: boolean;
}

/** One content of one file, and where in the cache it belongs. */
export interface WantedFile {
  path: string;
  size: number;
  mtimeNs: bigint;
  /** The cache; absolute. */
  directory: string;
  /** Names this content there, as 32 hexadecimal digits: another content has another key. */
  key: string;
}

/** Blocks of 64 KiB, the last of a file shorter. */
export interface WantedBlocks {
  first: number;
  /** 0: nothing is waited for. The reader goes on, and `ahead` from `first` on will be wanted. */
  count: number;
  /** How many behind those are likely to be wanted soon: they are begun with. */
  ahead: number;
}

/** A file as a mount has changed it: `size` and `mtimeNs` are what it is to have, `KEY.data` in `directory` holds bytes at their offsets. */
export interface ChangedFile extends WantedFile {
  /** What it was made on; absent: whatever is there of it is written over. */
  base?: { size: number; mtimeNs: bigint } | undefined;
  /** The same for all puts of one draft: 32 hexadecimal digits. */
  token: string;
  /** To be written: bytes of `KEY.data`, ascending, apart, within `size`. */
  ranges: readonly ByteRange[];
  /** So many bytes of the base still hold: it is cut to them before anything is written, so that what follows reads as zeros. */
  keep: number;
  /** Resolves only when it stands on the disk, whatever happens to the machine. */
  sync: boolean;
}

export interface ByteRange {
  offset: number;
  length: number;
}

/** What was made, and the mtime then of the directory that it is in, if that is told. */
export interface MadeSourceEntry extends SourceEntry {
  directoryMtimeNs?: bigint | undefined;
}

type Options = { signal: AbortSignal };

/** A lock of a program: bytes from `start` on, `length` of them; 0: to the end, however long the file becomes. */
export interface SourceLock {
  /** The program, as the kernel knows it; 8 bytes. */
  owner: Uint8Array;
  /** It locks by flock(2); else by fcntl(2). Neither meets the other. */
  whole: boolean;
  kind: 'shared' | 'exclusive';
  start: number;
  length: number;
}

export interface FoundSourceLock {
  kind: 'shared' | 'exclusive';
  start: number;
  length: number;
}

/** Locks at a source, which exclude those of the programs there. */
export interface SourceLocks {
  /**
   * Does not wait.
   *
   * @returns holder  for `unlock`; `entry`, the file under the lock
   * @throws  SHARE_CALL_FAILED: EAGAIN while another has a lock there, ENOLCK for one too many
   */
  lock(path: string, lock: SourceLock, options: Options): Promise<{ holder: number; entry: SourceEntry }>;
  /** Also done if nobody waits for it any more. Nothing if the holder has no locks there. @returns  whether it has others */
  unlock(holder: number, range: { start: number; length: number }, options: Options): Promise<boolean>;
  /** A lock of another that this one would meet. */
  test(path: string, lock: SourceLock, options: Options): Promise<FoundSourceLock | undefined>;
  /** Calls back whenever the source has given up all locks, as after a long silence. @returns  what ends that */
  onLost(lost: () => void): () => void;
}

/**
 * What changes a source. Each call is done there when it resolves, and fails with SHARE_CALL_FAILED (`systemErrorIn` tells what the system there
 * said), SHARE_PATH_REFUSED, SHARE_NOT_FOUND, SESSION_* or what else reading fails with. No symlink is followed.
 */
export interface SourceWrites {
  /** An empty file. EEXIST */
  create(path: string, options: Options & { mode: number }): Promise<MadeSourceEntry>;
  makeDirectory(path: string, options: Options & { mode: number }): Promise<MadeSourceEntry>;
  makeSymlink(path: string, options: Options & { target: string }): Promise<MadeSourceEntry>;
  /** @param options.directory  whether it is an empty directory that goes, or anything else */
  remove(path: string, options: Options & { directory: boolean }): Promise<{ directoryMtimeNs?: bigint | undefined }>;
  /** As renameat2(2): over what is there, only where nothing is, or each to the place of the other. */
  rename(from: string, to: string, options: Options & { how: 'replace' | 'keep' | 'exchange' }): Promise<void>;
  change(path: string, options: Options & { mode?: number; mtimeNs?: bigint }): Promise<SourceEntry>;
  /** Of a file, with its mode and mtime, under a name that is free. EEXIST */
  copy(from: string, to: string, options: Options): Promise<SourceEntry>;
  /** Extended attributes: those of `user.` alone. ENODATA, ENOTSUP */
  getAttribute(path: string, name: string, options: Options): Promise<Uint8Array>;
  setAttribute(
    path: string,
    name: string,
    value: Uint8Array,
    options: Options & { how: 'any' | 'new' | 'old' },
  ): Promise<void>;
  removeAttribute(path: string, name: string, options: Options): Promise<void>;
  listAttributes(path: string, options: Options): Promise<string[]>;
  /** The names in a directory stand on the disk, whatever happens to the machine. */
  syncDirectory(path: string, options: Options): Promise<void>;
  /**
   * Writes what was changed of a file in place.
   *
   * @returns the file as it is then: the base of the next put
   * @throws  TRANSFER_SOURCE_CHANGED when it is neither the base nor what puts of the same token have left, SHARE_NOT_FOUND when it is not there
   *          any more: nothing is written then
   */
  put(file: ChangedFile, options: Options): Promise<SourceEntry>;
  /** Absent: locks are this machine's alone. */
  readonly locks?: SourceLocks | undefined;
}

/**
 * Where the files of a mount come from. Paths are names joined by `/`, '' for the root; no symlink is followed.
 *
 * Every call ends with its `signal`, and fails with a KeibiError: SHARE_NOT_FOUND, SHARE_UNREADABLE, SHARE_PATH_REFUSED,
 * TRANSFER_SOURCE_CHANGED, SESSION_*, or any other, which the mount shows as an input/output error. packages/mount/test/source-contract.ts
 * says what every source has to do.
 */
export interface MountSource {
  /** What it is called. */
  readonly name: string;
  /** A directory, part by part. */
  list(path: string, options: { signal: AbortSignal }): AsyncIterable<SourceListing>;
  stat(path: string, options: { signal: AbortSignal }): Promise<SourceEntry>;
  /** What changes. Nothing is missed from the first notice on, which comes when that is so. */
  watch(options: { signal: AbortSignal }): AsyncIterable<SourceNotice>;
  /**
   * Sees to it that blocks are in the cache (native: stream/cache_file.h); resolves when `count` from `first` on are there. The same ones may be
   * wanted by several calls at once.
   *
   * @returns aheadBlocks  how many blocks ahead keep the path busy
   * @throws  TRANSFER_SOURCE_CHANGED when the file is no longer the one that is wanted
   */
  want(file: WantedFile, blocks: WantedBlocks, options: { signal: AbortSignal }): Promise<{ aheadBlocks: number }>;
  /** Nobody reads this content any more: what is under way may stop, and its files in the cache may go. */
  release(file: WantedFile): void;
  /** The reader has jumped: the source may cancel the prefetch, except for blocks that a `want` waits for. */
  leaveAhead?(file: WantedFile): void;
  /** Of the disk where the files are, if that can be told. */
  space?(options: { signal: AbortSignal }): Promise<{ totalBytes: number; freeBytes: number }>;
  /** Absent: it can only be read. */
  readonly writes?: SourceWrites | undefined;
  close(): Promise<void>;
}

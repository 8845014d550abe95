// SPDX-License-Identifier: MPL-2.0
import type {
  ByteRange,
  CachedFile,
  FileVersion,
  ShareEntry,
  ShareListing,
  ShareNotice,
  WantedBlocks,
} from '@keibidrop/protocol';

/**
 * A file that a mount has changed: `size` and `mtimeNs` are its new ones, `KEY.data` in `directory` holds bytes at
 * their offsets.
 */
export interface ChangedFile extends CachedFile {
  /** The version it applies to; absent: any version is overwritten. */
  base?: FileVersion | undefined;
  /** The same for all puts of one overlay: 32 hexadecimal digits. */
  token: string;
  /** The bytes of `KEY.data` to write: ascending and disjoint, within `size`. */
  ranges: readonly ByteRange[];
  /**
   * Bytes of the base that are still valid: the file is truncated to them before anything is written, so that later
   * gaps read as zeros.
   */
  keep: number;
  /** Resolves only when the file is synced to the disk. */
  sync: boolean;
}

/** A created entry, and the new mtime of its directory, if known. */
export interface MadeSourceEntry extends ShareEntry {
  directoryMtimeNs?: bigint | undefined;
}

type Options = { signal: AbortSignal };

/** A program's lock of `length` bytes from `start` on; 0: to the end of the file, even as it grows. */
export interface SourceLock {
  /** The program, as the kernel knows it; 8 bytes. */
  owner: Uint8Array;
  /** A lock by flock(2); else by fcntl(2). The two kinds never conflict. */
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

/** Locks at a source, which exclude programs there. */
export interface SourceLocks {
  /**
   * Does not wait.
   *
   * @returns holder  for `unlock`; `entry`, the file under the lock
   * @throws  SHARE_CALL_FAILED: EAGAIN while another has a lock there, ENOLCK for one too many
   */
  lock(path: string, lock: SourceLock, options: Options): Promise<{ holder: number; entry: ShareEntry }>;
  /** Completes even after an abort; does nothing if the holder has no locks there. @returns  whether it has others */
  unlock(holder: number, range: { start: number; length: number }, options: Options): Promise<boolean>;
  /** The first lock of another holder that would conflict. */
  test(path: string, lock: SourceLock, options: Options): Promise<FoundSourceLock | undefined>;
  /** Calls back whenever the source has released all locks, as after a long silence. @returns  removes the callback */
  onLost(lost: () => void): () => void;
}

/**
 * The changes of a source. Each call is done there when it resolves, and fails with SHARE_CALL_FAILED (`systemErrorIn` returns the error of the
 * system there), SHARE_PATH_REFUSED, SHARE_NOT_FOUND, SESSION_* or another error of reading. No symlink is followed.
 */
export interface SourceWrites {
  /** Creates an empty file. EEXIST */
  create(path: string, options: Options & { mode: number }): Promise<MadeSourceEntry>;
  makeDirectory(path: string, options: Options & { mode: number }): Promise<MadeSourceEntry>;
  makeSymlink(path: string, options: Options & { target: string }): Promise<MadeSourceEntry>;
  /** @param options.directory  whether to remove an empty directory, else anything but a directory */
  remove(path: string, options: Options & { directory: boolean }): Promise<{ directoryMtimeNs?: bigint | undefined }>;
  /** As renameat2(2): overwrite, only if the name is free, or exchange. */
  rename(from: string, to: string, options: Options & { how: 'replace' | 'keep' | 'exchange' }): Promise<void>;
  change(path: string, options: Options & { mode?: number; mtimeNs?: bigint }): Promise<ShareEntry>;
  /** Copies a file with its mode and mtime to a free name. EEXIST */
  copy(from: string, to: string, options: Options): Promise<ShareEntry>;
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
  /** Syncs the names in a directory to the disk. */
  syncDirectory(path: string, options: Options): Promise<void>;
  /**
   * Writes the changed ranges of a file in place.
   *
   * @returns the file as it is then: the base of the next put
   * @throws  TRANSFER_SOURCE_CHANGED when it is neither the base nor what puts of the same token have left, SHARE_NOT_FOUND when it is not there
   *          any more: nothing is written then
   */
  put(file: ChangedFile, options: Options): Promise<ShareEntry>;
  /** Absent: locks apply on this machine only. */
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
  /** The name of the source. */
  readonly name: string;
  /** A directory, part by part. */
  list(path: string, options: { signal: AbortSignal }): AsyncIterable<ShareListing>;
  stat(path: string, options: { signal: AbortSignal }): Promise<ShareEntry>;
  /** Yields changes. The first notice comes when none is missed from then on. */
  watch(options: { signal: AbortSignal }): AsyncIterable<ShareNotice>;
  /**
   * Sees to it that blocks are in the cache (native: remote/cache_file.h); resolves when `count` from `first` on are there. The same ones may be
   * wanted by several calls at once.
   *
   * @returns aheadBlocks  how many blocks ahead keep the path busy
   * @throws  TRANSFER_SOURCE_CHANGED when the file is no longer the one that is wanted
   */
  want(file: CachedFile, blocks: WantedBlocks, options: { signal: AbortSignal }): Promise<{ aheadBlocks: number }>;
  /** This content is closed: pending reads may stop, and its cache files may be removed. */
  release(file: CachedFile): void;
  /** The reader has jumped: the source may cancel the prefetch, except for blocks that a `want` waits for. */
  leaveAhead?(file: CachedFile): void;
  /** The space of the disk that holds the files, if known. */
  space?(options: { signal: AbortSignal }): Promise<{ totalBytes: number; freeBytes: number }>;
  /** Absent: read-only. */
  readonly writes?: SourceWrites | undefined;
  close(): Promise<void>;
}

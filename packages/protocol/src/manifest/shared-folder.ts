// SPDX-License-Identifier: MPL-2.0

// A shared folder as a guest sees it (PROTOCOL 11), in a share, in a mount, in its hosts and in native code.

/** Identifies the content of a file: another size or time is another content. */
export interface FileVersion {
  size: number;
  /** Nanoseconds since 1970. */
  mtimeNs: bigint;
}

/** One version of one file of a share, and its place in the cache. */
export interface CachedFile extends FileVersion {
  /** Within the share. */
  path: string;
  /** The cache; absolute, must exist. */
  directory: string;
  /** Identifies the version there, in 32 hexadecimal digits: each version has its own key. */
  key: string;
}

/** Blocks of a cached file, each of 64 KiB, the last of a file shorter. */
export interface WantedBlocks {
  first: number;
  /** 0: do not wait. The reader continues, and will want `ahead` blocks from `first` on. */
  count: number;
  /** The number of blocks after those to prefetch. */
  ahead: number;
}

export interface ByteRange {
  offset: number;
  length: number;
}

/** One file, directory or symlink of a share. */
export interface ShareEntry {
  type: 'file' | 'directory' | 'symlink';
  name: string;
  /** Bytes of a file; 0 for anything else. */
  size: number;
  /** Nanoseconds since 1970. */
  mtimeNs: bigint;
  /** Permission bits, 0 to 0o777. */
  mode: number;
  /** The target of a symlink, which is never followed. */
  target?: string;
}

/** A part of a directory. */
export interface ShareListing {
  entries: readonly ShareEntry[];
  /** The number of entries that cannot be shown. */
  leftOut: number;
}

export interface ShareChange {
  /** `made` and `removed` of a directory cover everything below it. */
  kind: 'created' | 'changed' | 'removed' | 'replaced';
  path: string;
}

/** The changes since the previous notice. */
export interface ShareNotice {
  changes: readonly ShareChange[];
  /** Some changes are not listed: anything may have changed. */
  lookAgain: boolean;
  /** A part of the folder is not watched. */
  incomplete: boolean;
}

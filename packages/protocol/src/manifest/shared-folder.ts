// SPDX-License-Identifier: MPL-2.0

// A shared folder as a guest sees it (PROTOCOL 11), in a share, in a mount and in its hosts.

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
  kind: 'made' | 'changed' | 'removed';
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

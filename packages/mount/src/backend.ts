// SPDX-License-Identifier: MPL-2.0

/** The arguments of a mount host. */
export interface HostOptions {
  /** Absolute, empty, without symlinks. */
  folder: string;
  /** The name of the file system in `mount`. */
  name: string;
  /** The timeout of the kernel's requests. */
  patienceMs: number;
  /** Absolute: the daemon writes fetched bytes here, and the host written ones. */
  cache: string;
  /** The limit of the cache, not counting open files. */
  cacheBytes: number;
  /** This side's name in the names of conflict copies; absent: read-only. */
  label: string | undefined;
  /** Take programs' locks at the source; else they apply on this machine only. */
  locks: boolean;
}

/**
 * A program that serves as the mount host. It gets its end of the link as descriptor 3 and the directory of the cache as
 * 4, and exchanges the messages of proto/mount-host.mjs. It unmounts and ends when the link closes.
 * packages/mount/test/backend-contract.ts has the requirements, and the known differences.
 */
export interface MountBackend {
  readonly name: 'native' | 'fuse-native';
  /** Why it cannot be used here, in a sentence with what to do; undefined if it can. */
  whyNot(): Promise<string | undefined>;
  command(options: HostOptions): { program: string; words: string[] };
}

export type BackendName = MountBackend['name'];

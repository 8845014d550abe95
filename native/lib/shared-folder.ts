// SPDX-License-Identifier: MPL-2.0
import { assertText } from './arguments.ts';
import { loadBinding } from './binding.ts';

/** A part of a directory's list. */
export interface ListingPage {
  /** As in a manifest (PROTOCOL 6), none with a parent. */
  entries: Uint8Array;
  count: number;
  /** Entries that cannot be shared: not a file, directory or symlink, or with a name that is not Unicode. */
  leftOut: number;
  last: boolean;
}

/** One pass over a directory, in the order of the disk. One call at a time. */
export interface Listing {
  /** @throws TRANSFER_SOURCE_UNREADABLE */
  next(): Promise<ListingPage>;
  /** Idempotent; a later `next` finds the end. */
  close(): Promise<void>;
}

interface NativeSharedFolder {
  look(path: string): Promise<Uint8Array>;
  list(path: string): Promise<Listing>;
}

interface SharedFolderBinding {
  SharedFolder: new (folder: string, name: string) => NativeSharedFolder;
}

/**
 * Reads names and attributes in a folder that is shared live.
 *
 * Paths come from another peer: names joined by `/`, '' for the folder. No symlink beneath the folder is followed, so
 * nothing outside is reachable, even if entries are renamed meanwhile.
 */
export class SharedFolder {
  readonly #native: NativeSharedFolder;

  /** @param folder  absolute; opened at each call   @param name  its name for guests */
  constructor(folder: string, name: string) {
    assertText('folder', folder);
    assertText('name', name);
    const { SharedFolder: Native } = loadBinding<SharedFolderBinding>();
    this.#native = new Native(folder, name);
  }

  /**
   * One entry, as in a manifest.
   *
   * @throws TRANSFER_PATH_REFUSED (no path, or one that leads through a symlink), TRANSFER_SOURCE_MISSING, TRANSFER_SOURCE_UNREADABLE,
   *         TRANSFER_SOURCE_UNSUPPORTED, TRANSFER_LIMIT_EXCEEDED
   */
  look(path: string): Promise<Uint8Array> {
    assertText('path', path);
    return this.#native.look(path);
  }

  /** Opens a directory for listing; the caller closes it. Throws as `look` does. */
  list(path: string): Promise<Listing> {
    assertText('path', path);
    return this.#native.list(path);
  }
}

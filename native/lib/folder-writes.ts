// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertInteger, assertText, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';
import {
  checkedBase,
  checkedContent,
  checkedFinish,
  checkedTime,
  type NativeBase,
  type NativeContent,
  type NativeFinish,
  type PutBase,
  type PutContent,
  type PutFinish,
} from './put.ts';

export type RenameHow = 'replace' | 'keep' | 'exchange';
export type AttributeHow = 'any' | 'new' | 'old';

/** A created entry, and the new mtime of its directory. */
export interface MadeEntry {
  entry: Uint8Array;
  directoryMtimeNs: bigint;
}

export interface NativeFolderWrites {
  create(path: string, mode: number): Promise<MadeEntry>;
  makeDirectory(path: string, mode: number): Promise<MadeEntry>;
  makeSymlink(path: string, target: string): Promise<MadeEntry>;
  remove(path: string, directory: boolean): Promise<bigint>;
  rename(from: string, to: string, how: number): Promise<void>;
  change(path: string, mode: number | undefined, mtimeNs: bigint | undefined): Promise<Uint8Array>;
  copy(from: string, to: string): Promise<Uint8Array>;
  getAttribute(path: string, name: string): Promise<Uint8Array>;
  setAttribute(path: string, name: string, value: Uint8Array, how: number): Promise<void>;
  removeAttribute(path: string, name: string): Promise<void>;
  listAttributes(path: string): Promise<string[]>;
  syncDirectory(path: string): Promise<void>;
  put(
    path: string,
    ...put: [...NativeBase, ...NativeFinish, ...NativeContent, locks: object | undefined]
  ): Promise<Uint8Array>;
}

interface FolderWritesBinding {
  FolderWrites: new (folder: string, only: string, journal: string) => NativeFolderWrites;
}

const RENAMES: readonly RenameHow[] = ['replace', 'keep', 'exchange'];
const ATTRIBUTES: readonly AttributeHow[] = ['any', 'new', 'old'];

/**
 * The changes that guests may make to a shared folder (PROTOCOL 11.2), and the record of which guest writes which file.
 *
 * Paths come from another peer: names joined by `/`. No symlink beneath the folder is followed. Entries are as in a
 * manifest. Each call fails with TRANSFER_PATH_REFUSED, or SHARE_CALL_FAILED with `errnoName`.
 */
export class FolderWrites {
  readonly native: NativeFolderWrites;

  /**
   * @param folder   absolute; opened at each call
   * @param only     the one file in it that is shared, or ''
   * @param journal  a file that records puts, so that the next process resumes one that was killed; none if '' or in
   * use
   */
  constructor(folder: string, only = '', journal = '') {
    assertText('folder', folder);
    assertText('only', only);
    assertText('journal', journal);
    const { FolderWrites: Native } = loadBinding<FolderWritesBinding>();
    this.native = new Native(folder, only, journal);
  }

  /** Creates an empty file. */
  async create(path: string, mode: number): Promise<MadeEntry> {
    return this.native.create(text(path), bits(mode));
  }

  async makeDirectory(path: string, mode: number): Promise<MadeEntry> {
    return this.native.makeDirectory(text(path), bits(mode));
  }

  async makeSymlink(path: string, target: string): Promise<MadeEntry> {
    return this.native.makeSymlink(text(path), text(target));
  }

  /** @returns  the new mtime of its directory */
  async remove(path: string, directory: boolean): Promise<bigint> {
    return this.native.remove(text(path), directory);
  }

  async rename(from: string, to: string, how: RenameHow): Promise<void> {
    return this.native.rename(text(from), text(to), numberOf(RENAMES, how));
  }

  async change(path: string, { mode, mtimeNs }: { mode?: number; mtimeNs?: bigint }): Promise<Uint8Array> {
    if (mode !== undefined) bits(mode);
    return this.native.change(text(path), mode, mtimeNs === undefined ? undefined : checkedTime(mtimeNs));
  }

  /** Copies a file with its mode and mtime to another name. */
  async copy(from: string, to: string): Promise<Uint8Array> {
    return this.native.copy(text(from), text(to));
  }

  async getAttribute(path: string, name: string): Promise<Uint8Array> {
    return this.native.getAttribute(text(path), text(name));
  }

  async setAttribute(path: string, name: string, value: Uint8Array, how: AttributeHow): Promise<void> {
    assertBytes('value', value);
    return this.native.setAttribute(text(path), text(name), value, numberOf(ATTRIBUTES, how));
  }

  async removeAttribute(path: string, name: string): Promise<void> {
    return this.native.removeAttribute(text(path), text(name));
  }

  async listAttributes(path: string): Promise<string[]> {
    return this.native.listAttributes(text(path));
  }

  async syncDirectory(path: string): Promise<void> {
    return this.native.syncDirectory(text(path));
  }

  /**
   * Writes the changed ranges of a local overlay file in place.
   *
   * @param locks  a LockTable of the writer, whose own locks do not block it
   * @throws also TRANSFER_SOURCE_CHANGED, TRANSFER_SOURCE_MISSING
   */
  async put(path: string, put: PutBase & PutFinish & PutContent, locks?: { native: object }): Promise<Uint8Array> {
    const checked = [...checkedBase(put), ...checkedFinish(put), ...checkedContent(put)] as const;
    return this.native.put(text(path), ...checked, locks?.native);
  }
}

function text(value: string): string {
  assertText('a path or name', value);
  return value;
}

function bits(mode: number): number {
  assertInteger('mode', mode, 0, 0o777);
  return mode;
}

function numberOf<T>(all: readonly T[], one: T): number {
  const number = all.indexOf(one);
  if (number < 0) throw misuse(`${String(one)} is none of ${all.join(', ')}`);
  return number;
}

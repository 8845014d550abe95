// SPDX-License-Identifier: MPL-2.0
import { FolderWrites, type MadeEntry } from '@keibidrop/native';
import { callFailure, checkSharePath, decodePage, type Entry, type ShareEntry } from '@keibidrop/protocol';
import type { ChangedFile, MadeSourceEntry, SourceWrites } from '../mount-source.ts';
import { doneThere, sourceEntry } from './local-entry.ts';
import { LocalLocks } from './local-locks.ts';

type Options = { signal: AbortSignal };

/** Changes a folder of this machine, as a sharing peer does for its guests. */
export class LocalWrites implements SourceWrites {
  readonly #folder: FolderWrites;

  readonly locks: LocalLocks;

  /** @param folder  absolute */
  constructor(folder: string) {
    this.#folder = new FolderWrites(folder);
    this.locks = new LocalLocks(folder, this.#folder);
  }

  create(path: string, { mode, signal }: Options & { mode: number }): Promise<MadeSourceEntry> {
    return madeOf(signal, () => this.#folder.create(checkSharePath(path), mode));
  }

  makeDirectory(path: string, { mode, signal }: Options & { mode: number }): Promise<MadeSourceEntry> {
    return madeOf(signal, () => this.#folder.makeDirectory(checkSharePath(path), mode));
  }

  makeSymlink(path: string, { target, signal }: Options & { target: string }): Promise<MadeSourceEntry> {
    return madeOf(signal, () => this.#folder.makeSymlink(checkSharePath(path), checkTarget(target)));
  }

  async remove(
    path: string,
    { directory, signal }: Options & { directory: boolean },
  ): Promise<{ directoryMtimeNs: bigint }> {
    return { directoryMtimeNs: await doneThere(signal, () => this.#folder.remove(checkSharePath(path), directory)) };
  }

  rename(from: string, to: string, { how, signal }: Options & { how: 'replace' | 'keep' | 'exchange' }): Promise<void> {
    return doneThere(signal, () => this.#folder.rename(checkSharePath(from), checkSharePath(to), how));
  }

  change(path: string, { signal, ...changed }: Options & { mode?: number; mtimeNs?: bigint }): Promise<ShareEntry> {
    return entryOf(signal, () => this.#folder.change(checkSharePath(path), changed));
  }

  copy(from: string, to: string, { signal }: Options): Promise<ShareEntry> {
    return entryOf(signal, () => this.#folder.copy(checkSharePath(from), checkSharePath(to)));
  }

  getAttribute(path: string, name: string, { signal }: Options): Promise<Uint8Array> {
    return doneThere(signal, () => this.#folder.getAttribute(checkSharePath(path), name));
  }

  setAttribute(
    path: string,
    name: string,
    value: Uint8Array,
    { how, signal }: Options & { how: 'any' | 'new' | 'old' },
  ): Promise<void> {
    return doneThere(signal, () => this.#folder.setAttribute(checkSharePath(path), name, value, how));
  }

  removeAttribute(path: string, name: string, { signal }: Options): Promise<void> {
    return doneThere(signal, () => this.#folder.removeAttribute(checkSharePath(path), name));
  }

  listAttributes(path: string, { signal }: Options): Promise<string[]> {
    return doneThere(signal, () => this.#folder.listAttributes(checkSharePath(path)));
  }

  syncDirectory(path: string, { signal }: Options): Promise<void> {
    return doneThere(signal, () => this.#folder.syncDirectory(checkSharePath(path)));
  }

  put({ path, token, ...put }: ChangedFile, { signal }: Options): Promise<ShareEntry> {
    const changed = { ...put, token: Buffer.from(token, 'hex') };
    return entryOf(signal, () => this.#folder.put(checkSharePath(path), changed, this.locks.table));
  }
}

/** NUL ends a name for the system. */
function checkTarget(target: string): string {
  if (target.includes('\0')) throw callFailure('EINVAL');
  return target;
}

async function madeOf(signal: AbortSignal, work: () => Promise<MadeEntry>): Promise<MadeSourceEntry> {
  const { entry, directoryMtimeNs } = await doneThere(signal, work);
  const [made] = decodePage(entry, 0);
  return { ...sourceEntry(made as Entry), directoryMtimeNs };
}

async function entryOf(signal: AbortSignal, work: () => Promise<Uint8Array>): Promise<ShareEntry> {
  const [entry] = decodePage(await doneThere(signal, work), 0);
  return sourceEntry(entry as Entry);
}

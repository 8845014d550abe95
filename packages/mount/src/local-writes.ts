// SPDX-License-Identifier: MPL-2.0
import { FolderWrites, type MadeEntry } from '@keibidrop/native';
import { callFailure, checkSharePath, decodePage, type Entry, KeibiError } from '@keibidrop/protocol';
import { sourceEntry, told } from './local-entry.ts';
import type { ChangedFile, MadeSourceEntry, SourceEntry, SourceWrites } from './mount-source.ts';

type Options = { signal: AbortSignal };

/** What changes a folder of this machine: as a sharing peer does it for its guests. */
export class LocalWrites implements SourceWrites {
  readonly #folder: FolderWrites;

  /** @param folder  absolute */
  constructor(folder: string) {
    this.#folder = new FolderWrites(folder);
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
    return { directoryMtimeNs: await done(signal, () => this.#folder.remove(checkSharePath(path), directory)) };
  }

  rename(from: string, to: string, { how, signal }: Options & { how: 'replace' | 'keep' | 'exchange' }): Promise<void> {
    return done(signal, () => this.#folder.rename(checkSharePath(from), checkSharePath(to), how));
  }

  change(path: string, { signal, ...changed }: Options & { mode?: number; mtimeNs?: bigint }): Promise<SourceEntry> {
    return entryOf(signal, () => this.#folder.change(checkSharePath(path), changed));
  }

  copy(from: string, to: string, { signal }: Options): Promise<SourceEntry> {
    return entryOf(signal, () => this.#folder.copy(checkSharePath(from), checkSharePath(to)));
  }

  getAttribute(path: string, name: string, { signal }: Options): Promise<Uint8Array> {
    return done(signal, () => this.#folder.getAttribute(checkSharePath(path), name));
  }

  setAttribute(
    path: string,
    name: string,
    value: Uint8Array,
    { how, signal }: Options & { how: 'any' | 'new' | 'old' },
  ): Promise<void> {
    return done(signal, () => this.#folder.setAttribute(checkSharePath(path), name, value, how));
  }

  removeAttribute(path: string, name: string, { signal }: Options): Promise<void> {
    return done(signal, () => this.#folder.removeAttribute(checkSharePath(path), name));
  }

  listAttributes(path: string, { signal }: Options): Promise<string[]> {
    return done(signal, () => this.#folder.listAttributes(checkSharePath(path)));
  }

  syncDirectory(path: string, { signal }: Options): Promise<void> {
    return done(signal, () => this.#folder.syncDirectory(checkSharePath(path)));
  }

  put({ path, token, ...put }: ChangedFile, { signal }: Options): Promise<SourceEntry> {
    return entryOf(signal, () => this.#folder.put(checkSharePath(path), { ...put, token: Buffer.from(token, 'hex') }));
  }
}

/** NUL ends a name for the system. */
function checkTarget(target: string): string {
  if (target.includes('\0')) throw callFailure('EINVAL');
  return target;
}

async function madeOf(signal: AbortSignal, work: () => Promise<MadeEntry>): Promise<MadeSourceEntry> {
  const { entry, directoryMtimeNs } = await done(signal, work);
  const [made] = decodePage(entry, 0);
  return { ...sourceEntry(made as Entry), directoryMtimeNs };
}

async function entryOf(signal: AbortSignal, work: () => Promise<Uint8Array>): Promise<SourceEntry> {
  const [entry] = decodePage(await done(signal, work), 0);
  return sourceEntry(entry as Entry);
}

async function done<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  try {
    return await told(work());
  } catch (reason) {
    const { code, errnoName } = (reason as { cause?: { code?: string; errnoName?: string } }).cause ?? {};
    if (code !== 'SHARE_CALL_FAILED') throw KeibiError.from(reason, 'INTERNAL');
    throw callFailure(errnoName, { cause: reason });
  }
}

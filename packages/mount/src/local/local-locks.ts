// SPDX-License-Identifier: MPL-2.0
import { type FolderWrites, LockTable } from '@keibidrop/native';
import { callFailure, checkSharePath, decodePage, type Entry, type ShareEntry } from '@keibidrop/protocol';
import type { FoundSourceLock, SourceLock, SourceLocks } from '../mount-source.ts';
import { doneThere, sourceEntry } from './local-entry.ts';

type Options = { signal: AbortSignal };

/** Locks in a folder of this machine, as a sharing peer takes them for its guests. */
export class LocalLocks implements SourceLocks {
  readonly table: LockTable;

  constructor(folder: string, writes: FolderWrites) {
    this.table = new LockTable(folder, undefined, writes);
  }

  async lock(path: string, lock: SourceLock, { signal }: Options): Promise<{ holder: number; entry: ShareEntry }> {
    const granted = await doneThere(signal, () => this.table.lock(checkSharePath(path), { ...lock, ...spanOf(lock) }));
    if (granted.entry === undefined) throw callFailure('EAGAIN');
    const [entry] = decodePage(granted.entry, 0);
    return { holder: granted.holder, entry: sourceEntry(entry as Entry) };
  }

  unlock(holder: number, range: { start: number; length: number }): Promise<boolean> {
    return this.table.unlock(holder, spanOf(range));
  }

  async test(path: string, lock: SourceLock, { signal }: Options): Promise<FoundSourceLock | undefined> {
    const found = await doneThere(signal, () => this.table.test(checkSharePath(path), { ...lock, ...spanOf(lock) }));
    if (found === undefined) return undefined;
    const { kind, start, end } = found;
    return { kind, start, length: end === undefined ? 0 : end - start };
  }

  /** They last as long as this process. */
  onLost(): () => void {
    return () => {};
  }
}

function spanOf({ start, length }: { start: number; length: number }): { start: number; end: number | undefined } {
  return { start, end: length === 0 ? undefined : start + length };
}

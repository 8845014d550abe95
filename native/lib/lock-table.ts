// SPDX-License-Identifier: MPL-2.0
import { assertBoolean, assertBytes, assertInteger, assertText } from './arguments.ts';
import { loadBinding } from './binding.ts';
import type { FolderWrites, NativeFolderWrites } from './folder-writes.ts';

/** Bytes of a file from `start` on; without `end`, to the end of the file even as it grows. */
export interface LockSpan {
  start: number;
  end?: number | undefined;
}

/** A lock of one program of a guest. */
export interface WantedLock extends LockSpan {
  /** The program's identifier on its own system; 8 bytes. */
  owner: Uint8Array;
  /** A lock of the whole file by flock(2); else by fcntl(2). The two kinds never conflict. */
  whole: boolean;
  kind: 'shared' | 'exclusive';
}

export interface FoundLock extends LockSpan {
  kind: 'shared' | 'exclusive';
}

type NativeWanted = [owner: Uint8Array, whole: boolean, kind: number, start: number, end: number];

export interface NativeLockTable {
  lock(path: string, ...wanted: NativeWanted): Promise<{ holder: number; entry: Uint8Array }>;
  unlock(holder: number, start: number, end: number): Promise<boolean>;
  test(path: string, ...wanted: NativeWanted): Promise<[kind: number, start: number, end: number] | undefined>;
  refused(): number;
  close(): Promise<void>;
}

interface LockTableBinding {
  LockTable: new (folder: string, only: string, writes: NativeFolderWrites) => NativeLockTable;
}

const KINDS = { shared: 1, exclusive: 2 } as const;

/** The locks of one guest of a folder (PROTOCOL 11.3): they exclude those of other guests and of local programs. */
export class LockTable {
  readonly native: NativeLockTable;

  /** @param folder, only, writes  as for a ServeJob */
  constructor(folder: string, only: string | undefined, writes: FolderWrites) {
    assertText('folder', folder);
    assertText('only', only ?? '');
    const { LockTable: Native } = loadBinding<LockTableBinding>();
    this.native = new Native(folder, only ?? '', writes.native);
  }

  /**
   * Takes a lock.
   *
   * @returns holder  for `unlock`; 0: the owner has no lock of the file
   * @returns entry   the file's entry under the lock; absent: another holder has a conflicting lock
   * @throws  SHARE_CALL_FAILED with `errnoName`: ENOLCK beyond a limit; TRANSFER_SOURCE_MISSING, TRANSFER_PATH_REFUSED;
   * CANCELLED after close()
   */
  async lock(path: string, wanted: WantedLock): Promise<{ holder: number; entry: Uint8Array | undefined }> {
    assertText('path', path);
    const { holder, entry } = await this.native.lock(path, ...checked(wanted));
    return { holder, entry: entry.length === 0 ? undefined : entry };
  }

  /** Releases a holder's locks in that range, if any. @returns  whether it has others */
  async unlock(holder: number, { start, end }: LockSpan): Promise<boolean> {
    assertInteger('holder', holder, 0, 0xffffffff);
    return this.native.unlock(holder, ...span(start, end));
  }

  /** The first lock of another holder that would conflict. Throws as `lock` does. */
  async test(path: string, wanted: WantedLock): Promise<FoundLock | undefined> {
    assertText('path', path);
    const found = await this.native.test(path, ...checked(wanted));
    if (found === undefined) return undefined;
    const [kind, start, end] = found;
    return { kind: kind === KINDS.shared ? 'shared' : 'exclusive', start, end: end < 0 ? undefined : end };
  }

  /** Locks refused because of a limit, for all guests of the folder. */
  get refused(): number {
    return this.native.refused();
  }

  /** Releases every lock, and refuses new ones. Idempotent. */
  close(): Promise<void> {
    return this.native.close();
  }
}

function checked({ owner, whole, kind, start, end }: WantedLock): NativeWanted {
  assertBytes('owner', owner, 8);
  assertBoolean('whole', whole);
  return [owner, whole, KINDS[kind], ...span(start, end)];
}

function span(start: number, end: number | undefined): [start: number, end: number] {
  assertInteger('start', start, 0, Number.MAX_SAFE_INTEGER - 1);
  if (end !== undefined) assertInteger('end', end, start + 1, Number.MAX_SAFE_INTEGER);
  return [start, end ?? -1];
}

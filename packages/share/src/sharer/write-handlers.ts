// SPDX-License-Identifier: MPL-2.0
import type { FolderWrites, LockSpan, MadeEntry, ServeJob, WantedLock } from '@keibidrop/native';
import {
  AttributeHow,
  type AttributeReply,
  type AttributesReply,
  type ChangedReply,
  type ChangeRequest,
  type CommitRequest,
  type EntryReply,
  LockKind,
  type LockReply,
  type LockRequest,
  MakeKind,
  type MakeRequest,
  type OpenWriteReply,
  type OpenWriteRequest,
  RenameHow,
  type RenameRequest,
  type SetAttributeRequest,
  type TestLockReply,
  type UnlockReply,
  type UnlockRequest,
} from '@keibidrop/proto';
import {
  callFailure,
  checkSharePath,
  type ErrorCode,
  KeibiError,
  MAX_ATTRIBUTE_BYTES,
  MAX_NAME_BYTES,
} from '@keibidrop/protocol';
import { fromWireTime, toWireTime } from '../wire-time.ts';
import type { GuestLocks } from './guest-locks.ts';
import type { OwnChanges } from './own-changes.ts';
import type { ReplyCache } from './reply-cache.ts';

const CALL_BYTES = 16;
const TOKEN_BYTES = 16;
const OWNER_BYTES = 8;
/** Open handles of one guest (PROTOCOL 11.2). */
const MOST_HANDLES = 256;
const RENAMES = {
  [RenameHow.REPLACE]: 'replace',
  [RenameHow.KEEP]: 'keep',
  [RenameHow.EXCHANGE]: 'exchange',
} as const;
const ATTRIBUTES = {
  [AttributeHow.ANY]: 'any',
  [AttributeHow.NEW]: 'new',
  [AttributeHow.OLD]: 'old',
} as const;
const LOCKS = { [LockKind.SHARED]: 'shared', [LockKind.EXCLUSIVE]: 'exclusive' } as const;
const LOCK_KINDS = { shared: LockKind.SHARED, exclusive: LockKind.EXCLUSIVE } as const;

/** Error codes of native code for a writable folder, as guests get them. */
const REPORTED: Readonly<Record<string, ErrorCode>> = {
  TRANSFER_PATH_REFUSED: 'SHARE_PATH_REFUSED',
  TRANSFER_SOURCE_MISSING: 'SHARE_NOT_FOUND',
  TRANSFER_SOURCE_CHANGED: 'TRANSFER_SOURCE_CHANGED',
  TRANSFER_LIMIT_EXCEEDED: 'PEER_BUSY',
};

/**
 * The changes that one guest may make to a share in one session (PROTOCOL 11.2). Everything in a request is checked. In
 * a read-only share each call is refused with EROFS before its request is read.
 */
export class WriteHandlers {
  readonly #writes: FolderWrites | undefined;
  readonly #job: ServeJob;
  readonly #recent: ReplyCache;
  readonly #locks: GuestLocks | undefined;
  readonly #own: OwnChanges;
  /** The paths of open handles. */
  readonly #paths = new Map<number, string>();

  /** @param writes  absent: read-only   @param job, own  of this session   @param recent, locks  of this guest */
  constructor(
    writes: FolderWrites | undefined,
    job: ServeJob,
    own: OwnChanges,
    recent: ReplyCache,
    locks: GuestLocks | undefined,
  ) {
    this.#writes = writes;
    this.#job = job;
    this.#own = own;
    this.#recent = recent;
    this.#locks = locks;
  }

  make({ call, kind, path, mode, target }: MakeRequest): Promise<EntryReply> {
    return this.#once(call, async (writes) => {
      const made = checkSharePath(path);
      switch (kind) {
        case MakeKind.FILE:
          return this.#made(made, writes.create(made, bits(mode)));
        case MakeKind.DIRECTORY:
          return this.#made(made, writes.makeDirectory(made, bits(mode)));
        case MakeKind.SYMLINK:
          return this.#made(made, writes.makeSymlink(made, text(target)));
        default:
          throw callFailure('EINVAL');
      }
    });
  }

  remove({ call, path, directory }: { call: Uint8Array; path: string; directory: boolean }): Promise<ChangedReply> {
    return this.#once(call, async (writes) => ({
      directory: toWireTime(await writes.remove(checkSharePath(path), directory)),
    }));
  }

  rename({ call, from, to, how }: RenameRequest): Promise<ChangedReply> {
    return this.#changed(call, (writes) =>
      writes.rename(checkSharePath(from), checkSharePath(to), known(RENAMES, how)),
    );
  }

  change({ call, path, mode, mtime }: ChangeRequest): Promise<EntryReply> {
    return this.#once(call, async (writes) => {
      const changed = {
        ...(mode !== undefined && { mode: bits(mode) }),
        ...(mtime !== undefined && { mtimeNs: fromWireTime(mtime) }),
      };
      return this.#entry(path, writes.change(checkSharePath(path), changed));
    });
  }

  copy({ call, from, to }: { call: Uint8Array; from: string; to: string }): Promise<EntryReply> {
    return this.#once(call, async (writes) => this.#entry(to, writes.copy(checkSharePath(from), checkSharePath(to))));
  }

  setAttribute({ call, path, name, value, how }: SetAttributeRequest): Promise<ChangedReply> {
    return this.#changed(call, async (writes) => {
      const of = checkSharePath(path);
      if (how === AttributeHow.REMOVE) return writes.removeAttribute(of, attribute(name));
      if (value.length > MAX_ATTRIBUTE_BYTES) throw callFailure('E2BIG');
      return writes.setAttribute(of, attribute(name), new Uint8Array(value), known(ATTRIBUTES, how));
    });
  }

  getAttribute({ path, name }: { path: string; name: string }): Promise<AttributeReply> {
    return this.#withGuestErrors(async (writes) => ({
      value: await writes.getAttribute(checkSharePath(path), attribute(name)),
    }));
  }

  listAttributes({ path }: { path: string }): Promise<AttributesReply> {
    return this.#withGuestErrors(async (writes) => ({ names: await writes.listAttributes(checkSharePath(path)) }));
  }

  syncDirectory({ path }: { path: string }): Promise<ChangedReply> {
    return this.#withGuestErrors(async (writes) => {
      await writes.syncDirectory(checkSharePath(path));
      return {};
    });
  }

  openWrite({ path, token, keep, base }: OpenWriteRequest): Promise<OpenWriteReply> {
    return this.#withGuestErrors(async () => {
      if (token.length !== TOKEN_BYTES) throw callFailure('EINVAL');
      const made = base && { size: bytes(base.size), mtimeNs: fromWireTime(base.mtime) };
      const put = { token: new Uint8Array(token), keep: bytes(keep), base: made };
      const handle = await this.#job.openWrite(checkSharePath(path), put);
      this.#opened(handle, path);
      return { handle };
    });
  }

  commit({ handle, size, mtime, sync }: CommitRequest): Promise<EntryReply> {
    return this.#withGuestErrors(async () => {
      const path = this.#paths.get(handle) ?? '';
      const committed = this.#job.commit(handle, { size: bytes(size), mtimeNs: fromWireTime(mtime), sync });
      this.#paths.delete(handle);
      return this.#entry(path, committed);
    });
  }

  closeWrite({ handle }: { handle: number }): Promise<ChangedReply> {
    return this.#withGuestErrors(async () => {
      this.#paths.delete(handle);
      await this.#job.closeWrite(handle);
      return {};
    });
  }

  lock(request: LockRequest): Promise<LockReply> {
    return this.#withGuestErrors(async () => {
      const path = checkSharePath(request.path);
      const granted = this.#guestLocks().lock(path, lockOf(request));
      // A notice of the previous lock holder's close is no news to the new holder.
      const entry = await this.#own.answer(
        path,
        granted.then((lock) => lock.entry),
      );
      return { holder: (await granted).holder, entry };
    });
  }

  unlock({ holder, start, length }: UnlockRequest): Promise<UnlockReply> {
    return this.#withGuestErrors(async () => ({
      left: await this.#guestLocks().unlock(holder, spanOf(start, length)),
    }));
  }

  testLock(request: LockRequest): Promise<TestLockReply> {
    return this.#withGuestErrors(async () => {
      const found = await this.#guestLocks().test(checkSharePath(request.path), lockOf(request));
      if (found === undefined) return { kind: LockKind.UNSPECIFIED, start: 0, length: 0 };
      const { kind, start, end } = found;
      return { kind: LOCK_KINDS[kind], start, length: end === undefined ? 0 : end - start };
    });
  }

  #guestLocks(): GuestLocks {
    if (this.#locks === undefined) throw callFailure('ENOLCK');
    return this.#locks;
  }

  async #made(path: string, making: Promise<MadeEntry>): Promise<EntryReply> {
    const { entry } = await this.#entry(
      path,
      making.then((made) => made.entry),
    );
    return { entry, directory: toWireTime((await making).directoryMtimeNs) };
  }

  /** Answers a guest's own change with the new entry. */
  async #entry(path: string, change: Promise<Uint8Array>): Promise<EntryReply> {
    return { entry: await this.#own.answer(path, change), directory: undefined };
  }

  #opened(handle: number, path: string): void {
    this.#paths.set(handle, path);
    for (const oldest of this.#paths.keys()) {
      if (this.#paths.size <= MOST_HANDLES) break;
      this.#paths.delete(oldest);
    }
  }

  async #once<Reply>(call: Uint8Array, work: (writes: FolderWrites) => Promise<Reply>): Promise<Reply> {
    return this.#withGuestErrors((writes) => {
      if (call.length !== CALL_BYTES) throw callFailure('EINVAL');
      return this.#recent.answer(call, () => work(writes));
    });
  }

  #changed(call: Uint8Array, work: (writes: FolderWrites) => Promise<void>): Promise<ChangedReply> {
    return this.#once(call, async (writes) => {
      await work(writes);
      return {};
    });
  }

  async #withGuestErrors<Reply>(work: (writes: FolderWrites) => Promise<Reply>): Promise<Reply> {
    if (this.#writes === undefined) throw callFailure('EROFS');
    try {
      return await work(this.#writes);
    } catch (reason) {
      if (reason instanceof KeibiError) throw reason;
      const { code = '', errnoName } = reason as { code?: string; errnoName?: string };
      if (code === 'SHARE_CALL_FAILED') throw callFailure(errnoName, { cause: reason });
      const reported = REPORTED[code];
      throw reported === undefined ? reason : new KeibiError(reported, undefined, { cause: reason });
    }
  }
}

function lockOf({ owner, whole, kind, start, length }: LockRequest): WantedLock {
  if (owner.length !== OWNER_BYTES) throw callFailure('EINVAL');
  return { owner: new Uint8Array(owner), whole, kind: known(LOCKS, kind), ...spanOf(start, length) };
}

function spanOf(start: number, length: number): LockSpan {
  const end = length === 0 ? undefined : start + length;
  if (bytes(start) === Number.MAX_SAFE_INTEGER || bytes(length) !== length) throw callFailure('EINVAL');
  return { start, end: end === undefined ? undefined : bytes(end) };
}

function bits(mode: number): number {
  if (mode > 0o777) throw callFailure('EINVAL');
  return mode;
}

function bytes(count: number): number {
  if (!Number.isSafeInteger(count) || count < 0) throw callFailure('EFBIG');
  return count;
}

/** NUL ends a text for the system. */
function text(value: string): string {
  if (value.includes('\0')) throw callFailure('EINVAL');
  return value;
}

function attribute(name: string): string {
  if (name.length > MAX_NAME_BYTES || name.includes('\0')) throw callFailure('ENOTSUP');
  return name;
}

function known<How extends number, Word>(words: Readonly<Partial<Record<How, Word>>>, how: How): Word {
  const word = words[how];
  if (word === undefined) throw callFailure('EINVAL');
  return word;
}

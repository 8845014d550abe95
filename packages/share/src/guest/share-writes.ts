// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import type { ChangedFile, MadeSourceEntry, SourceLocks, SourceWrites } from '@keibidrop/mount';
import type { RateBudget } from '@keibidrop/native';
import { AttributeHow, type EntryReply, MakeKind, RenameHow, ShareService, type Time } from '@keibidrop/proto';
import { checkSharePath, KeibiError, MAX_ATTRIBUTE_BYTES, messageFor, type ShareEntry } from '@keibidrop/protocol';
import type { UnaryMethod } from '../batched-calls.ts';
import { checkedEntry, type ShareInfo } from '../share-entries.ts';
import { fromWireTime, toWireTime } from '../wire-time.ts';
import type { GuestSession } from './guest-session.ts';
import { Semaphore } from './semaphore.ts';
import { ShareLocks } from './share-locks.ts';
import { type InSession, SharePuts } from './share-puts.ts';

type Options = { signal: AbortSignal };

/** Concurrent calls, beside puts: together fewer than the peer allows a guest. */
const MOST_CALLS = 32;
const CALL_BYTES = 16;

const RENAMES = { replace: RenameHow.REPLACE, keep: RenameHow.KEEP, exchange: RenameHow.EXCHANGE } as const;
const ATTRIBUTES = { any: AttributeHow.ANY, new: AttributeHow.NEW, old: AttributeHow.OLD } as const;

/**
 * Changes a share, over as many sessions as the guest has. A call whose session is lost is repeated in the next one under the same number, so
 * the peer recognises changes that it has already made.
 */
export class ShareWrites implements SourceWrites {
  readonly #inSession: InSession;
  readonly #puts: SharePuts;
  readonly #slots = new Semaphore(MOST_CALLS);
  readonly #locks: ShareLocks;
  #hasLocks = false;

  /** @param options.budget  the rate that puts keep to; absent: no limit */
  constructor(inSession: InSession, options: { budget?: RateBudget | undefined } = {}) {
    this.#inSession = inSession;
    this.#puts = new SharePuts(inSession, options);
    this.#locks = new ShareLocks(inSession);
  }

  /** Absent if the peer is an older version that takes no locks. */
  get locks(): SourceLocks | undefined {
    return this.#hasLocks ? this.#locks : undefined;
  }

  /** A session is up. @param info  the peer's description of the share */
  begin(session: GuestSession, { locks }: ShareInfo): void {
    this.#hasLocks = locks !== undefined;
    this.#locks.begin(locks);
    this.#puts.begin(session);
  }

  /** The session is over. Resolves when another may begin. */
  end(): Promise<void> {
    return this.#puts.end();
  }

  close(reason: unknown): Promise<void> {
    return this.#puts.close(reason);
  }

  create(path: string, { mode, ...options }: Options & { mode: number }): Promise<MadeSourceEntry> {
    return this.#make(path, MakeKind.FILE, { mode, target: '' }, options);
  }

  makeDirectory(path: string, { mode, ...options }: Options & { mode: number }): Promise<MadeSourceEntry> {
    return this.#make(path, MakeKind.DIRECTORY, { mode, target: '' }, options);
  }

  makeSymlink(path: string, { target, ...options }: Options & { target: string }): Promise<MadeSourceEntry> {
    return this.#make(path, MakeKind.SYMLINK, { mode: 0, target }, options);
  }

  async remove(
    path: string,
    { directory, ...options }: Options & { directory: boolean },
  ): Promise<{ directoryMtimeNs?: bigint | undefined }> {
    const request = { call: drawCall(), path: checkSharePath(path), directory };
    return directoryOf(await this.#call(options, ShareService.remove, request));
  }

  async rename(
    from: string,
    to: string,
    { how, ...options }: Options & { how: 'replace' | 'keep' | 'exchange' },
  ): Promise<void> {
    const request = { call: drawCall(), from: checkSharePath(from), to: checkSharePath(to), how: RENAMES[how] };
    await this.#call(options, ShareService.rename, request);
  }

  async change(
    path: string,
    { mode, mtimeNs, ...options }: Options & { mode?: number; mtimeNs?: bigint },
  ): Promise<ShareEntry> {
    const mtime = mtimeNs === undefined ? undefined : toWireTime(mtimeNs);
    const request = { call: drawCall(), path: checkSharePath(path), mode, mtime };
    return this.#entry(path, options, ShareService.change, request);
  }

  async copy(from: string, to: string, options: Options): Promise<ShareEntry> {
    const request = { call: drawCall(), from: checkSharePath(from), to: checkSharePath(to) };
    return this.#entry(to, options, ShareService.copy, request);
  }

  async getAttribute(path: string, name: string, options: Options): Promise<Uint8Array> {
    const request = { path: checkSharePath(path), name };
    const { value } = await this.#call(options, ShareService.getAttribute, request);
    if (value.length > MAX_ATTRIBUTE_BYTES) throw malformed('an attribute');
    return value;
  }

  async setAttribute(
    path: string,
    name: string,
    value: Uint8Array,
    { how, ...options }: Options & { how: 'any' | 'new' | 'old' },
  ): Promise<void> {
    const request = { call: drawCall(), path: checkSharePath(path), name, value, how: ATTRIBUTES[how] };
    await this.#call(options, ShareService.setAttribute, request);
  }

  async removeAttribute(path: string, name: string, options: Options): Promise<void> {
    const how = AttributeHow.REMOVE;
    const request = { call: drawCall(), path: checkSharePath(path), name, value: new Uint8Array(), how };
    await this.#call(options, ShareService.setAttribute, request);
  }

  async listAttributes(path: string, options: Options): Promise<string[]> {
    const request = { path: checkSharePath(path) };
    const { names } = await this.#call(options, ShareService.listAttributes, request);
    const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name) + 1, 0);
    const known = names.every((name) => name.startsWith('user.') && !name.includes('\0'));
    if (bytes > MAX_ATTRIBUTE_BYTES || !known) throw malformed('names of attributes');
    return names;
  }

  async syncDirectory(path: string, options: Options): Promise<void> {
    const request = { path: checkSharePath(path) };
    await this.#call(options, ShareService.syncDirectory, request);
  }

  put(file: ChangedFile, options: Options): Promise<ShareEntry> {
    return this.#puts.put(file, options);
  }

  async #make(
    path: string,
    kind: MakeKind,
    { mode, target }: { mode: number; target: string },
    options: Options,
  ): Promise<MadeSourceEntry> {
    const request = { call: drawCall(), kind, path: checkSharePath(path), mode, target };
    const reply = await this.#call(options, ShareService.make, request);
    return { ...checkedEntry(reply.entry, path.slice(path.lastIndexOf('/') + 1)), ...directoryOf(reply) };
  }

  async #entry<Request>(
    path: string,
    options: Options,
    method: UnaryMethod<Request, EntryReply>,
    request: Request,
  ): Promise<ShareEntry> {
    const { entry } = await this.#call(options, method, request);
    return checkedEntry(entry, path.slice(path.lastIndexOf('/') + 1));
  }

  #call<Request, Reply>({ signal }: Options, method: UnaryMethod<Request, Reply>, request: Request): Promise<Reply> {
    return this.#slots.run({ signal }, () =>
      this.#inSession(signal, (session) => session.call(method, request, { signal })),
    );
  }
}

/** @throws SHARE_CALL_FAILED for an invalid time */
function directoryOf({ directory }: { directory?: Time | undefined }): { directoryMtimeNs?: bigint | undefined } {
  return { directoryMtimeNs: directory && fromWireTime(directory) };
}

function drawCall(): Uint8Array {
  return randomBytes(CALL_BYTES);
}

function malformed(what: string): KeibiError {
  const text = messageFor('HANDSHAKE_MALFORMED', `The share sent ${what} that are none`);
  return new KeibiError('HANDSHAKE_MALFORMED', text);
}

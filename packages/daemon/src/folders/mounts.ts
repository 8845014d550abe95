// SPDX-License-Identifier: MPL-2.0

import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Mount, mount, type Unsent, usableBackend, whyNotMountable } from '@keibidrop/mount';
import type { local } from '@keibidrop/proto';
import { KeibiError, retryOf } from '@keibidrop/protocol';
import { GuestSource, overlap, refuseShownWithin, type ShareGuest } from '@keibidrop/share';
import type { EventStream } from '../event-stream.ts';
import { folderPath } from '../folder-path.ts';
import { fieldsIn, isId, Journal } from '../journal.ts';
import type { ReadSettings } from '../transfers/transfer-options.ts';
import { type KnownShare, type MountCache, MountCaches } from './mount-caches.ts';
import type { Shares } from './shares.ts';

const NOBODYS_CACHE =
  'A cache is kept of what a contact shares: a code does not say who that is. Mount without --keep-cache, or have it shared with you as a contact.';
/** Transient errors of this machine: the mount is kept and retried. */
const PASSING: ReadonlySet<string> = new Set(['MOUNT_BUSY', 'MOUNT_UNAVAILABLE']);
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Limited because each mount is a process. */
const MAX_MOUNTS = 64;

/** How long a program waits for missing data; KD_MOUNT_PATIENCE_MS overrides it in tests. */
function patienceMs(): number | undefined {
  return Number(process.env.KD_MOUNT_PATIENCE_MS) || undefined;
}

/** The part of a mount that outlives the daemon. */
interface MountEntry {
  id: number;
  added: number;
  folder: string;
  /** The name of the share. */
  share: string;
  /** The share was connected only for this mount. */
  connected: boolean;
  readOnly?: boolean | undefined;
  cacheBytes?: number | undefined;
  keepCache?: boolean | undefined;
}

interface OpenMount {
  readonly entry: MountEntry;
  view: local.Mount;
  /** Undefined while the share is away. */
  shown?: Mount | undefined;
  opening?: Promise<void> | undefined;
  /** The timer of the next attempt, and its delay. */
  retry?: NodeJS.Timeout | undefined;
  pauseMs?: number | undefined;
  /** It is being unmounted for good. */
  ending?: true;
}

/** The end of a mount. */
interface MountEnd {
  error?: KeibiError | undefined;
  /** Changes that could not be sent; absent: none. */
  left?: Unsent | undefined;
}

const NONE_UNSENT: Unsent = { unsent: 0, keptIn: undefined };

export interface MountsOptions {
  shares: Pick<Shares, 'connect' | 'accept' | 'guest' | 'guestOf' | 'list' | 'end'>;
  events: EventStream;
  /** The journal of mounts. */
  file: string;
  /** The folder of the read caches, one folder per mount. */
  caches: string;
  /** The fingerprint of a contact, as text. @throws CONTACT_UNKNOWN */
  fingerprintOf(contact: string): Promise<string>;
  /** The settings: they name this side in conflict copies. */
  read: ReadSettings;
  /** Reports an error that no client waits for. */
  onTrouble(error: KeibiError): void;
}

/** The shares that this daemon mounts. The next daemon mounts them again. */
export class Mounts {
  readonly #options: MountsOptions;
  readonly #journal: Journal<MountEntry>;
  readonly #caches: MountCaches;
  readonly #open = new Map<number, OpenMount>();
  #next = 1;
  #closing = false;

  constructor(options: MountsOptions) {
    this.#options = options;
    this.#journal = new Journal(options.file, isMountEntry);
    this.#caches = new MountCaches(options.caches);
  }

  /** Restores the mounts of an earlier daemon: each is mounted when its share is available. Call it before shares are restored. */
  async restore(): Promise<string | undefined> {
    const { state, damaged } = await this.#journal.read();
    this.#next = state?.next ?? 1;
    for (const entry of state?.entries ?? []) this.#open.set(entry.id, { entry, view: viewOf(entry) });
    await this.#caches.trim();
    return damaged;
  }

  list(): local.Mount[] {
    return [...this.#open.values()].map(({ view }) => view);
  }

  /** Mounts a share. @throws MOUNT_*, USAGE; the errors of `connect`; `signal.reason` on abort */
  async add(request: local.MountRequest, { signal }: { signal: AbortSignal }): Promise<local.Mount> {
    const folder = folderPath(request.folder);
    const { readOnly, cacheBytes, keepCache } = request;
    if (this.#closing) throw new KeibiError('DAEMON_LOST');
    if (this.#open.size >= MAX_MOUNTS)
      throw new KeibiError('MOUNT_UNAVAILABLE', 'There are too many mounts. End one first.');
    const reason = await whyNotMountable();
    if (reason !== undefined) throw new KeibiError('MOUNT_UNAVAILABLE', reason);
    await this.#refuseShared(folder);
    const before = new Set(this.#options.shares.list().map(({ id }) => id));
    const share = await this.#shareOf(request, { signal });
    const entry = {
      id: this.#next++,
      added: Date.now(),
      folder,
      share: share.name,
      connected: !before.has(share.id),
      readOnly,
      cacheBytes,
      keepCache,
    };
    const added: OpenMount = { entry, view: viewOf(entry) };
    try {
      if (keepCache && share.contact === undefined) throw new KeibiError('USAGE', NOBODYS_CACHE);
      await this.#refuseWithin(added, { signal });
      await this.#show(added, { signal });
    } catch (failure) {
      if (entry.connected) await this.#options.shares.end(share.name).catch(() => {});
      throw failure;
    }
    this.#open.set(entry.id, added);
    await this.save().catch(async (failure) => {
      await this.end(folder, { force: true }).catch(() => {});
      throw failure;
    });
    return added.view;
  }

  /** @returns  undefined if the folder is no mount of ours @throws MOUNT_BUSY */
  async end(folder: string, { force }: { force: boolean }): Promise<local.MountReply | undefined> {
    const place = await realpath(folder).catch(() => folder);
    const found = [...this.#open.values()].find(({ view, entry }) =>
      [view.folder, entry.folder].some((one) => [folder, place].includes(one)),
    );
    if (found === undefined) return undefined;
    await found.opening;
    const left = (await found.shown?.unmount({ force })) ?? NONE_UNSENT;
    await this.#forget(found, { left });
    return { mount: found.view, ...left };
  }

  /** A share has opened, closed or ended. @param error  the reason of its end */
  follow(share: local.Share, open: boolean, error?: KeibiError): void {
    for (const one of this.#open.values()) {
      if (one.entry.share !== share.name || share.kind !== 'guest') continue;
      if (!open) void this.#shareEnded(one, error);
      else if (one.shown === undefined) this.#showAgain(one);
      else this.#setAway(one, one.shown, share.state === 'away');
    }
  }

  /** Unmounts all, after sending pending writes where possible. The next daemon mounts them again. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const { retry } of this.#open.values()) clearTimeout(retry);
    await Promise.allSettled([...this.#open.values()].map((one) => this.#end(one)));
  }

  async #end({ shown, view }: OpenMount): Promise<void> {
    const left = await shown?.unmount().catch(() => shown.unmount({ force: true }));
    if (left !== undefined && left.unsent > 0)
      this.#options.onTrouble(new KeibiError('MOUNT_BUSY', unsentText(view.folder, left)));
  }

  async #shareOf(
    { target, connect, reach }: local.MountRequest,
    options: { signal: AbortSignal },
  ): Promise<local.Share> {
    const named = this.#options.shares.guest(target)?.view;
    if (named !== undefined) return named;
    if (!/^\d/.test(target)) return this.#options.shares.accept(target, options);
    const met = await this.#options.shares.guestOf(target);
    if (met !== undefined) return met;
    return this.#options.shares.connect({ code: target, connect, reach, contact: undefined }, options);
  }

  /** Refuses a folder inside our own shares, because the mount would appear within itself. @throws MOUNT_UNAVAILABLE */
  async #refuseShared(folder: string): Promise<void> {
    const place = await placeOf(folder);
    for (const { kind, folder: shared = '' } of this.#options.shares.list()) {
      if (kind !== 'own' || !overlap(await placeOf(shared), place)) continue;
      throw new KeibiError(
        'MOUNT_UNAVAILABLE',
        `${folder} and ${shared}, which is shared, are one within the other. Choose another folder.`,
      );
    }
  }

  async #refuseWithin({ entry }: OpenMount, options: { signal: AbortSignal }): Promise<void> {
    const guest = this.#options.shares.guest(entry.share)?.guest;
    if (guest !== undefined) await refuseShownWithin(new GuestSource(guest), await placeOf(entry.folder), options);
  }

  async #show(one: OpenMount, { signal }: { signal: AbortSignal }): Promise<void> {
    const { folder, share, readOnly, cacheBytes } = one.entry;
    const found = this.#options.shares.guest(share);
    if (found === undefined) throw new KeibiError('SHARE_UNKNOWN');
    const cache = await this.#cacheOf(one.entry, found);
    const shown = await mount({
      source: new GuestSource(found.guest),
      folder,
      cache: cache.folder,
      cacheBytes,
      readOnly,
      label: (await this.#options.read({})).label,
      patienceMs: patienceMs(),
      signal,
    }).catch(async (reason) => {
      await cache.close();
      throw reason;
    });
    one.shown = shown;
    const { peer, state } = found.view;
    this.#change(one, {
      folder: shown.folder,
      readOnly: shown.readOnly,
      backend: shown.backend,
      peer,
      state: state === 'away' ? 'away' : 'open',
      reason: undefined,
    });
    one.pauseMs = undefined;
    if (state === 'away') shown.setAway(true);
    void shown.closed
      .then(
        (left) => ({ left }),
        (reason: unknown) => ({ error: KeibiError.from(reason, 'MOUNT_UNAVAILABLE') }),
      )
      .then(async (end) => {
        await cache.close().catch(() => {});
        if (one.shown === shown) await this.#hasEnded(one, end);
      });
  }

  /** The stored cache of the share, if the user wants one and no other mount uses it. */
  async #cacheOf(
    { id, keepCache }: MountEntry,
    { guest, view }: { guest: ShareGuest; view: local.Share },
  ): Promise<MountCache> {
    const known = await this.#knownShare(guest, view.contact);
    if (known !== undefined && !keepCache) await this.#caches.drop(known);
    // Only the native backend can reuse a cache.
    const keeps = keepCache === true && (await usableBackend()).name === 'native';
    const kept = known !== undefined && keeps ? await this.#caches.openKept(known) : undefined;
    return kept ?? this.#caches.open(id);
  }

  /** Undefined for a share met by a code, which proves no identity, or for a contact that was removed. */
  async #knownShare({ info }: ShareGuest, contact: string | undefined): Promise<KnownShare | undefined> {
    if (contact === undefined) return undefined;
    try {
      return { fingerprint: await this.#options.fingerprintOf(contact), id: info.id, name: info.name };
    } catch {
      return undefined;
    }
  }

  /** Another program has unmounted it, or its host was killed. A killed mount is mounted again. */
  async #hasEnded(one: OpenMount, end: MountEnd): Promise<void> {
    one.shown = undefined;
    if (this.#closing || !this.#open.has(one.entry.id)) return;
    if (end.error === undefined) return this.#forget(one, end);
    this.#options.onTrouble(end.error);
    this.#change(one, { state: 'waiting' });
    this.#showAgain(one);
  }

  async #shareEnded(one: OpenMount, error: KeibiError | undefined): Promise<void> {
    const { shown } = one;
    // #forget reports the end, with the folder of what could not be sent.
    one.shown = undefined;
    one.ending = true;
    const left = await shown?.unmount({ force: true }).catch(() => undefined);
    const forgotten = error?.code === 'SHARE_FORGOTTEN';
    const ended = forgotten ? error : new KeibiError('SHARE_UNKNOWN', 'The share has ended.');
    await this.#forget(one, { error: ended, left });
  }

  #showAgain(one: OpenMount): void {
    clearTimeout(one.retry);
    if (this.#closing || one.ending || !this.#open.has(one.entry.id)) return;
    if (one.opening !== undefined || this.#options.shares.guest(one.entry.share) === undefined) return;
    one.opening = this.#show(one, { signal: new AbortController().signal })
      .catch(async (reason: unknown) => {
        const error = KeibiError.from(reason, 'INTERNAL');
        if (PASSING.has(error.code)) return this.#tryLater(one, error);
        this.#options.onTrouble(error);
        if (retryOf(error.code) === 'never') await this.#forget(one, { error });
      })
      .finally(() => {
        one.opening = undefined;
      });
  }

  /** Keeps the mount and shows the reason of the failure. */
  #tryLater(one: OpenMount, error: KeibiError): void {
    if (one.view.reason !== error.message) {
      this.#options.onTrouble(error);
      this.#change(one, { state: 'waiting', reason: error.message });
    }
    one.pauseMs = Math.min(2 * (one.pauseMs ?? FIRST_PAUSE_MS / 2), LONGEST_PAUSE_MS);
    one.retry = setTimeout(() => this.#showAgain(one), one.pauseMs).unref();
  }

  #setAway(one: OpenMount, shown: Mount, away: boolean): void {
    shown.setAway(away);
    this.#change(one, { state: away ? 'away' : 'open' });
  }

  async #forget({ entry, view, retry }: OpenMount, { error, left = NONE_UNSENT }: MountEnd): Promise<void> {
    clearTimeout(retry);
    if (!this.#open.delete(entry.id)) return;
    const { unsent, keptIn } = left;
    const text = unsent > 0 ? unsentText(view.folder, left) : undefined;
    if (text !== undefined) this.#options.onTrouble(new KeibiError(error?.code ?? 'MOUNT_BUSY', text));
    const message = [error?.message, text].filter((one) => one !== undefined).join(' ');
    this.#options.events.emit(0, {
      happened: {
        $case: 'mountEnded',
        value: {
          id: entry.id,
          folder: view.folder,
          error: error && { code: error.code, message },
          unsent,
          keptIn,
        },
      },
    });
    await this.save();
    if (entry.connected && error === undefined) await this.#options.shares.end(entry.share).catch(() => {});
  }

  #change(one: OpenMount, fields: Partial<local.Mount>): void {
    one.view = { ...one.view, ...fields };
    this.#options.events.emit(0, { happened: { $case: 'mount', value: one.view } });
  }

  /** Resolves once all mounts to restore are on the disk. @throws DISK_FULL, CONFIG_INVALID */
  save(): Promise<void> {
    return this.#journal.write(() => ({
      next: this.#next,
      entries: [...this.#open.values()].map(({ entry }) => entry),
    }));
  }
}

/** The message about changes that could not be sent. */
function unsentText(folder: string, { unsent, keptIn }: Unsent): string {
  const files = unsent === 1 ? '1 changed file' : `${unsent} changed files`;
  const kept = keptIn === undefined ? 'no folder could be made to keep them' : `they are kept in ${keptIn}`;
  return `${files} of ${folder} could not be sent: ${kept}.`;
}

function isMountEntry(value: unknown): boolean {
  const { id, added, folder, share } = fieldsIn(value);
  return isId(id) && typeof added === 'number' && typeof folder === 'string' && typeof share === 'string';
}

function viewOf({ id, added, folder, share, readOnly = false, keepCache = false }: MountEntry): local.Mount {
  return { id, added, folder, share, state: 'waiting', readOnly, keepCache, peer: undefined };
}

/** Resolves symlinks, also for a folder that does not exist yet. */
async function placeOf(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch {
    const above = dirname(folder);
    return above === folder ? folder : join(await placeOf(above), folder.slice(above.length).replace(/^\//, ''));
  }
}

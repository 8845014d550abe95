// SPDX-License-Identifier: MPL-2.0
import { constants } from 'node:fs';
import { mkdir, open, readdir, realpath, rmdir, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { KeibiError } from '@keibidrop/protocol';
import type { BackendName } from './backend.ts';
import { BareFolder } from './bare-folder.ts';
import { HostProcess } from './host-process.ts';
import { HostService } from './host-service.ts';
import type { MountSource } from './mount-source.ts';
import { abortMount, clearStaleMount, mountedAt } from './mount-table.ts';
import type { Unsent } from './unsent-files.ts';
import { usableBackend } from './usable-backend.ts';

export interface MountOptions {
  source: MountSource;
  /** The mount point: absolute, empty or not existing yet. */
  folder: string;
  /** The cache: absolute, existing, used by this mount only. */
  cache: string;
  /** The timeout of the kernel's, and so a program's, requests. */
  patienceMs?: number | undefined;
  /** The limit of the cache, not counting open files; absent: a quarter of the free space of that disk. */
  cacheBytes?: number | undefined;
  /** Nothing can be changed through the mount, even if the source is writable. */
  readOnly?: boolean | undefined;
  /** This side's name in the names of conflict copies; absent: the name of this machine. */
  label?: string | undefined;
  /** Absent: the one that KD_MOUNT_BACKEND names, else the best available. */
  backend?: BackendName | undefined;
  signal: AbortSignal;
}

/** A mounted source. */
export interface Mount {
  /** Without symlinks. */
  readonly folder: string;
  readonly readOnly: boolean;
  readonly backend: BackendName;
  /**
   * Settles when the mount has ended: resolves after `unmount`, ours or another program's; rejects with any other end.
   * Changes that could not be sent are in a folder of their own by then.
   */
  readonly closed: Promise<Unsent>;
  /** Whether the peer behind the source is connected. While it is not, the known tree is shown and stays trusted. */
  setAway(away: boolean): void;
  /**
   * Sends the written bytes, unmounts, and resolves when all is cleaned up; the source stays open.
   *
   * @param options.force  unmount even if the folder is in use, or written bytes cannot be sent
   * @returns  changes that could not be sent, which only happens with `force`
   * @throws   MOUNT_BUSY, and the mount continues
   */
  unmount(options?: { force?: boolean }): Promise<Unsent>;
}

const PATIENCE_MS = 30_000;
const NONE: Unsent = { unsent: 0, keptIn: undefined };

/**
 * Mounts a source as a folder, writable if the source is.
 *
 * @throws MOUNT_UNAVAILABLE, MOUNT_BUSY (the folder is in use, or not empty); `signal.reason` on abort
 */
export async function mount(options: MountOptions): Promise<Mount> {
  options.signal.throwIfAborted();
  const backend = await usableBackend(options.backend);
  const { folder, made } = await prepare(options.folder);
  const cache = await open(options.cache, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const bare = await BareFolder.open(folder);
    const { patienceMs = PATIENCE_MS, source, signal } = options;
    const writes = options.readOnly === true ? undefined : source.writes;
    const label = (options.label ?? hostname()).replaceAll(/[^\p{L}\p{N} ._-]/gu, '-');
    const { cacheBytes = await partOfDisk(options.cache) } = options;
    const name = source.name.replaceAll(/[^\w.-]/g, '-');
    const { program, words } = backend.command({
      folder,
      name,
      patienceMs,
      cache: options.cache,
      cacheBytes,
      label: writes && label,
      locks: writes?.locks !== undefined,
    });
    const host = new HostProcess(program, words, cache.fd);
    host.onStuck = () => void abortMount(folder);
    const shown = new HostService({ host, source, writes, folder, cache: options.cache, patienceMs });
    let guarded: Promise<void> | undefined;
    const ended = shown.closed
      .finally(async () => {
        await guarded;
        await cleanUp(folder, made, bare);
      })
      .then(() => shown.keepUnsent());
    ended.catch(() => {});
    await shown.begin({ signal });
    guarded = bare.guard().catch(() => {});
    await guarded;
    return {
      folder,
      readOnly: writes === undefined,
      backend: backend.name,
      closed: ended,
      setAway: (away) => shown.setAway(away),
      unmount: async ({ force = false } = {}) => {
        await shown.unmount(force);
        return ended.catch(() => NONE);
      },
    };
  } finally {
    await cache.close();
  }
}

async function partOfDisk(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return Math.floor((bavail * bsize) / 4);
}

/** @throws MOUNT_BUSY, MOUNT_UNAVAILABLE */
async function prepare(given: string): Promise<{ folder: string; made: boolean }> {
  await clearStaleMount(given);
  let made = false;
  try {
    made = (await mkdir(given, { recursive: true })) !== undefined;
    const folder = await realpath(given);
    if (await clearStaleMount(folder)) made = false;
    if (await mountedAt(folder))
      throw new KeibiError('MOUNT_BUSY', `Something is mounted on ${given} already. Choose another folder.`);
    if ((await readdir(folder)).length > 0)
      throw new KeibiError('MOUNT_BUSY', `${given} is not empty. Choose an empty folder, or a new one.`);
    return { folder, made };
  } catch (reason) {
    if (made) await rmdir(given).catch(() => {});
    if (reason instanceof KeibiError) throw reason;
    const { code } = reason as NodeJS.ErrnoException;
    throw new KeibiError('MOUNT_UNAVAILABLE', `${given} cannot be used as a folder (${code}). Choose another.`, {
      cause: reason,
    });
  }
}

/** Cleans up after a killed host, with the folder that was created for it. */
async function cleanUp(folder: string, made: boolean, bare: BareFolder): Promise<void> {
  await clearStaleMount(folder).catch(() => {});
  await bare.release().catch(() => {});
  if (made) await rmdir(folder).catch(() => {});
}

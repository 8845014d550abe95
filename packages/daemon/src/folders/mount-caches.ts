// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Identifies a share across mounts: its owner, and which of the owner's shares it is. */
export interface KnownShare {
  /** The sharer's fingerprint, as text. */
  fingerprint: string;
  /** As the peer reports it, in hexadecimal digits; empty if it does not. */
  id: string;
  name: string;
}

/** The folder of one mount's read cache. */
export interface MountCache {
  readonly folder: string;
  /** Called when the mount has ended. */
  close(): Promise<void>;
}

const MOST_KEPT = 16;
/** Kept caches may take this part of the space that would be free without them. */
const PART_OF_DISK = 4;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const BYTES_OF_DISK_BLOCK = 512;

/**
 * The read caches of this daemon's mounts. Most are removed with their mount. A kept one is found by the next mount of the same
 * share of the same person, until the machine restarts: a cache may list blocks that never reached the disk (native:
 * remote/cache_file.h).
 */
export class MountCaches {
  readonly #folder: string;
  readonly #kept: string;
  readonly #used = new Set<string>();

  /** @param folder  used by no other program; created when needed */
  constructor(folder: string) {
    this.#folder = folder;
    this.#kept = join(folder, 'kept');
  }

  /** Opens an empty cache, which is removed with the mount of that number. */
  async open(id: number): Promise<MountCache> {
    const folder = join(this.#folder, String(id));
    const clear = () => rm(folder, { recursive: true, force: true });
    await clear();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return { folder, close: clear };
  }

  /** Opens the cache that the previous mount has left. Undefined while another mount uses it. */
  async openKept(share: KnownShare): Promise<MountCache | undefined> {
    const name = nameOf(share);
    if (this.#used.has(name)) return undefined;
    this.#used.add(name);
    const place = join(this.#kept, name);
    const folder = join(place, 'cache');
    try {
      const boot = await bootId();
      if (boot === undefined || boot !== (await bootOf(place))) await rm(place, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const use = () => writeFile(join(place, 'boot'), boot ?? '', { mode: 0o600 });
      await use();
      const close = async () => {
        await use();
        this.#used.delete(name);
        await this.trim();
      };
      return { folder, close };
    } catch (reason) {
      this.#used.delete(name);
      throw reason;
    }
  }

  /** Drops the kept cache of a share, unless a mount uses it. */
  async drop(share: KnownShare): Promise<void> {
    const name = nameOf(share);
    if (!this.#used.has(name)) await rm(join(this.#kept, name), { recursive: true, force: true });
  }

  /** Drops caches from before the machine's last start, and the least recently used ones when all together are too large. */
  async trim(): Promise<void> {
    const boot = await bootId();
    const kept: { place: string; usedMs: number; bytes: number }[] = [];
    for (const name of await readdir(this.#kept).catch(() => [])) {
      if (this.#used.has(name)) continue;
      const place = join(this.#kept, name);
      if (boot === undefined || boot !== (await bootOf(place))) await rm(place, { recursive: true, force: true });
      else kept.push({ place, usedMs: (await stat(join(place, 'boot'))).mtimeMs, bytes: await diskBytesOf(place) });
    }
    if (kept.length === 0) return;
    const { bavail, bsize } = await statfs(this.#kept);
    const most = (kept.reduce((sum, { bytes }) => sum + bytes, 0) + bavail * bsize) / PART_OF_DISK;
    let bytes = 0;
    for (const [i, one] of kept.sort((one, other) => other.usedMs - one.usedMs).entries()) {
      bytes += one.bytes;
      if (i >= MOST_KEPT || bytes > most) await rm(one.place, { recursive: true, force: true });
    }
  }
}

function nameOf({ fingerprint, id, name }: KnownShare): string {
  return createHash('sha256').update(`${fingerprint}\0${id}\0${name}`).digest('hex').slice(0, 32);
}

/** Changes with each start of the machine. */
async function bootId(): Promise<string | undefined> {
  const text = await readFile(BOOT_ID, 'utf8').catch(() => '');
  return text.trim() || undefined;
}

/** The boot during which the cache was kept. */
async function bootOf(place: string): Promise<string> {
  return readFile(join(place, 'boot'), 'utf8').catch(() => '');
}

async function diskBytesOf(place: string): Promise<number> {
  const cache = join(place, 'cache');
  let blocks = 0;
  for (const name of await readdir(cache).catch(() => []))
    blocks += (await stat(join(cache, name)).catch(() => ({ blocks: 0 }))).blocks;
  return blocks * BYTES_OF_DISK_BLOCK;
}

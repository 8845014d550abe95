// SPDX-License-Identifier: MPL-2.0
import { mkdir, realpath, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  FolderWrites,
  type Listing,
  LockTable,
  type RateBudget,
  type Root,
  ServeJob,
  SharedFolder,
} from '@keibidrop/native';
import { rootsBeneath } from '@keibidrop/peer';
import type { ListPage, SpaceReply } from '@keibidrop/proto';
import { checkName, checkSharePath, type ErrorCode, KeibiError, messageFor } from '@keibidrop/protocol';
import { refuseMounted } from '../folder-overlap.ts';
import { shareIdentity } from '../share-identity.ts';

/** Error codes of native code, as guests get them. */
const REPORTED: Readonly<Record<string, ErrorCode>> = {
  TRANSFER_PATH_REFUSED: 'SHARE_PATH_REFUSED',
  TRANSFER_SOURCE_MISSING: 'SHARE_NOT_FOUND',
  TRANSFER_SOURCE_UNREADABLE: 'SHARE_UNREADABLE',
  TRANSFER_SOURCE_UNSUPPORTED: 'SHARE_UNREADABLE',
};

/**
 * One folder that is shared, or one file, which guests see as a folder with nothing else in it: what a guest may see of it, and what of it a
 * transfer offers.
 *
 * Every path comes from a guest and is checked here; nothing outside the folder is reached by any, nor through a symlink in it.
 */
export class ShareFolder {
  /** The folder; absolute, without symlinks. */
  readonly path: string;
  /** The one file in it that is shared. */
  readonly only: string | undefined;
  /** The name that guests see. */
  readonly name: string;
  /** Identifies the share for guests, over all codes and restarts. */
  readonly id: Uint8Array;
  readonly #folder: SharedFolder;
  readonly #writes: FolderWrites;

  /** @throws TRANSFER_SOURCE_MISSING, TRANSFER_SOURCE_UNREADABLE, TRANSFER_SOURCE_UNSUPPORTED (neither folder nor file) naming the path */
  static async open(
    given: string,
    { readOnly, journals }: { readOnly: boolean; journals?: string | undefined },
  ): Promise<ShareFolder> {
    const path = await realpath(given).catch((cause: NodeJS.ErrnoException) => {
      const missing = cause.code === 'ENOENT' || cause.code === 'ENOTDIR';
      const code = missing ? 'TRANSFER_SOURCE_MISSING' : 'TRANSFER_SOURCE_UNREADABLE';
      throw new KeibiError(code, messageFor(code, given), { cause });
    });
    const [found, id] = await Promise.all([stat(path), shareIdentity(path)]);
    if (found.isDirectory()) await refuseMounted(path);
    const journal = readOnly || journals === undefined ? undefined : await journalIn(journals, id);
    if (found.isDirectory()) return new ShareFolder(path, { name: nameOf(path), only: undefined, id, journal });
    if (found.isFile())
      return new ShareFolder(dirname(path), { name: nameOf(path), only: basename(path), id, journal });
    throw new KeibiError(
      'TRANSFER_SOURCE_UNSUPPORTED',
      `${given} is neither a folder nor a file. Choose a folder or a file to share.`,
    );
  }

  private constructor(
    path: string,
    about: { name: string; only: string | undefined; id: Uint8Array; journal: string | undefined },
  ) {
    const { name, only, id, journal } = about;
    this.path = path;
    this.name = name;
    this.only = only;
    this.id = id;
    this.#folder = new SharedFolder(path, name);
    this.#writes = new FolderWrites(path, only, journal);
  }

  /** One entry, as in a manifest. @throws SHARE_* */
  async look(path: string): Promise<Uint8Array> {
    return withGuestErrors(this.#folder.look(this.#shown(path)));
  }

  /** A directory, page after page; the last may be empty. @throws SHARE_* */
  async *list(path: string): AsyncGenerator<ListPage> {
    const shown = this.#shown(path);
    if (this.only !== undefined && shown === '') {
      yield { entries: await this.look(this.only).catch(noneIfGone), leftOut: 0 };
      return;
    }
    const listing: Listing = await withGuestErrors(this.#folder.list(shown));
    try {
      for (let ended = false; !ended; ) {
        const { entries, leftOut, last } = await withGuestErrors(listing.next());
        ended = last;
        yield { entries, leftOut };
      }
    } finally {
      await listing.close();
    }
  }

  /** The requested paths as roots of an offer. @throws SHARE_*; USAGE for an empty list */
  async roots(paths: readonly string[]): Promise<Root[]> {
    if (paths.length === 0) throw new KeibiError('USAGE');
    const asked = paths.map((path) => (path === '' ? (this.only ?? '') : path));
    for (const path of asked) await this.look(path);
    return rootsBeneath(this, asked);
  }

  /** The space of the folder's disk. @throws SHARE_UNREADABLE */
  async space(): Promise<SpaceReply> {
    const { bsize, blocks, bavail } = await statfs(this.path).catch((cause) => {
      throw new KeibiError('SHARE_UNREADABLE', undefined, { cause });
    });
    const bytes = (count: number) => Math.min(bsize * count, Number.MAX_SAFE_INTEGER);
    return { totalBytes: bytes(blocks), freeBytes: bytes(bavail) };
  }

  /** The writer of the folder; undefined if it is `readOnly`. */
  writes(readOnly: boolean): FolderWrites | undefined {
    return readOnly ? undefined : this.#writes;
  }

  /**
   * Serves one guest's reads and writes in place in one session: native code checks every path as this class does. The
   * caller closes it.
   */
  serveInPlace(budget: RateBudget, readOnly: boolean, locks?: LockTable | undefined): ServeJob {
    return new ServeJob({ folder: this.path, only: this.only, budget, writes: this.writes(readOnly), locks });
  }

  /** The locks of one guest on the share. The caller closes it. */
  lockTable(): LockTable {
    return new LockTable(this.path, this.only, this.#writes);
  }

  /** @throws SHARE_PATH_REFUSED; SHARE_NOT_FOUND for entries beside the one file */
  #shown(path: string): string {
    const checked = checkSharePath(path);
    if (this.only !== undefined && checked !== '' && checked !== this.only) throw new KeibiError('SHARE_NOT_FOUND');
    return checked;
  }
}

/** `/` has no name of its own. */
function nameOf(path: string): string {
  try {
    return checkName(basename(path), { top: true, entry: 0 });
  } catch {
    return 'share';
  }
}

/** A missing file leaves its share empty. */
function noneIfGone(reason: unknown): Uint8Array {
  if (reason instanceof KeibiError && reason.code === 'SHARE_NOT_FOUND') return new Uint8Array();
  throw reason;
}

async function withGuestErrors<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (reason) {
    const { code = '' } = reason as { code?: string };
    const reported = REPORTED[code];
    throw reported === undefined ? reason : new KeibiError(reported, undefined, { cause: reason });
  }
}

/** One for each folder that was ever shared to be written; a few megabytes at the most. */
async function journalIn(folder: string, id: Uint8Array): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return join(folder, `${Buffer.from(id).toString('hex')}.puts`);
}

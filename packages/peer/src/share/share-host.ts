// SPDX-License-Identifier: MPL-2.0
import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Listing, type Root, SharedFolder } from '@keibidrop/native';
import type { ListPage } from '@keibidrop/proto';
import { checkName, checkSharePath, type ErrorCode, KeibiError, messageFor } from '@keibidrop/protocol';
import { rootsBeneath } from '../roots.ts';

/** What native says of a disk, as it is told to a guest. */
const TOLD: Readonly<Record<string, ErrorCode>> = {
  TRANSFER_PATH_REFUSED: 'SHARE_PATH_REFUSED',
  TRANSFER_SOURCE_MISSING: 'SHARE_NOT_FOUND',
  TRANSFER_SOURCE_UNREADABLE: 'SHARE_UNREADABLE',
  TRANSFER_SOURCE_UNSUPPORTED: 'SHARE_UNREADABLE',
};

/**
 * One folder that is shared: what a guest may see of it, and what of it a transfer offers.
 *
 * Every path comes from a guest and is checked here; nothing outside the folder is reached by any, nor through a symlink in it.
 */
export class ShareHost {
  /** Absolute, without symlinks. */
  readonly path: string;
  /** What guests know it by. */
  readonly name: string;
  readonly #folder: SharedFolder;

  /** @throws TRANSFER_SOURCE_MISSING, TRANSFER_SOURCE_UNREADABLE, TRANSFER_SOURCE_UNSUPPORTED (no folder) naming the path */
  static async open(dir: string): Promise<ShareHost> {
    const path = await realpath(dir).catch((cause: NodeJS.ErrnoException) => {
      const missing = cause.code === 'ENOENT' || cause.code === 'ENOTDIR';
      const code = missing ? 'TRANSFER_SOURCE_MISSING' : 'TRANSFER_SOURCE_UNREADABLE';
      throw new KeibiError(code, messageFor(code, dir), { cause });
    });
    if ((await stat(path)).isDirectory()) return new ShareHost(path);
    throw new KeibiError(
      'TRANSFER_SOURCE_UNSUPPORTED',
      `${dir} is no folder. Only folders are shared: send it instead.`,
    );
  }

  private constructor(path: string) {
    this.path = path;
    this.name = nameOf(path);
    this.#folder = new SharedFolder(path, this.name);
  }

  /** One entry, as in a manifest. @throws SHARE_* */
  async look(path: string): Promise<Uint8Array> {
    return asTold(this.#folder.look(checkSharePath(path)));
  }

  /** A directory, page after page; the last may be empty. @throws SHARE_* */
  async *list(path: string): AsyncGenerator<ListPage> {
    const listing: Listing = await asTold(this.#folder.list(checkSharePath(path)));
    try {
      for (let ended = false; !ended; ) {
        const { entries, leftOut, last } = await asTold(listing.next());
        ended = last;
        yield { entries, leftOut };
      }
    } finally {
      await listing.close();
    }
  }

  /** What is asked for, as roots of an offer. @throws SHARE_*; USAGE for nothing at all */
  async roots(paths: readonly string[]): Promise<Root[]> {
    if (paths.length === 0) throw new KeibiError('USAGE');
    for (const path of paths) await this.look(path);
    return rootsBeneath(this, paths);
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

async function asTold<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (reason) {
    const { code = '' } = reason as { code?: string };
    const told = TOLD[code];
    throw told === undefined ? reason : new KeibiError(told, undefined, { cause: reason });
  }
}

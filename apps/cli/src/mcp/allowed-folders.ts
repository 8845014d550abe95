// SPDX-License-Identifier: MPL-2.0
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';

/** The folders that an agent may send from and receive into. Symlinks are resolved first. */
export class AllowedFolders {
  readonly #folders: readonly string[];

  /** @throws USAGE if one of them is not a folder */
  static async of(folders: readonly string[]): Promise<AllowedFolders> {
    const found = folders.map(async (folder) => {
      const path = await realpath(folder).catch(() => undefined);
      if (path === undefined || !(await stat(path)).isDirectory()) {
        throw new KeibiError('USAGE', `There is no folder ${folder}.`);
      }
      return path;
    });
    return new AllowedFolders(await Promise.all(found));
  }

  private constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  /** Absolute, without symlinks; received files go into the first unless the agent names another. */
  get paths(): readonly string[] {
    return this.#folders;
  }

  /**
   * Resolves the path of a file to send, without symlinks; a relative path is relative to the first folder.
   *
   * @throws FOLDER_NOT_ALLOWED, TRANSFER_SOURCE_MISSING
   */
  async source(path: string): Promise<string> {
    const asked = this.#absolute(path);
    this.#assertInside(asked, path);
    const found = await realpath(asked).catch((cause: unknown) => {
      throw new KeibiError('TRANSFER_SOURCE_MISSING', `There is no ${path}.`, { cause });
    });
    return this.#assertInside(found, path);
  }

  /**
   * Resolves a folder to receive into, which need not exist yet. The daemon must not leave `beneath`: a symlink may
   * appear before it writes.
   *
   * @throws FOLDER_NOT_ALLOWED
   */
  async destination(path = '.'): Promise<{ out: string; beneath: string }> {
    const asked = this.#absolute(path);
    this.#assertInside(asked, path);
    const out = this.#assertInside(await realpathOfNearest(asked), path);
    return { out, beneath: this.#folders.find((folder) => isBeneath(folder, out)) as string };
  }

  #absolute(path: string): string {
    return resolve(this.#folders[0] ?? '', path);
  }

  #assertInside(absolute: string, given: string): string {
    if (this.#folders.some((folder) => isBeneath(folder, absolute))) return absolute;
    const folders = this.#folders.join(', ');
    throw new KeibiError(
      'FOLDER_NOT_ALLOWED',
      `${given} is outside the allowed folders: ${folders}. Choose a path in one of them.`,
    );
  }
}

function isBeneath(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}

/** `path` with symlinks resolved in the part of it that exists. */
async function realpathOfNearest(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined || dirname(path) === path) return found ?? path;
  return join(await realpathOfNearest(dirname(path)), basename(path));
}

// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, type FileHandle, open, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { mountedAt } from './mount-table.ts';

const run = promisify(execFile);

/** Nobody writes here, and by the sticky bit we know later that it was us who said so. */
const GUARDED = 0o1555;
/** Of a folder whose own mode a daemon has known that was killed. */
const USUAL = 0o755;
const MODE_BITS = 0o7777;

/**
 * The folder beneath a mount. It shows when the mount goes, also when nobody is left to clean up: what programs would write into it then would hide
 * below the next mount. So it can be written by nobody while it is guarded, by root neither where chattr(1) can see to that.
 */
export class BareFolder {
  readonly #folder: string;
  readonly #mode: number;
  readonly #handle: FileHandle;

  private constructor(folder: string, mode: number, handle: FileHandle) {
    this.#folder = folder;
    this.#mode = mode;
    this.#handle = handle;
  }

  /** Before anything is mounted on it. */
  static async open(folder: string): Promise<BareFolder> {
    const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    const mode = (await handle.stat()).mode & MODE_BITS;
    const bare = new BareFolder(folder, mode === GUARDED ? USUAL : mode, handle);
    // fusermount3 mounts only where the user may write.
    if (mode === GUARDED) await bare.#release();
    return bare;
  }

  /** Once it is covered: by its descriptor, which does not lead to the mount. A folder of somebody else's stays as it is. */
  async guard(): Promise<void> {
    await this.#handle.chmod(GUARDED).catch(() => {});
    await this.#setImmutable(`/proc/${process.pid}/fd/${this.#handle.fd}/.`, true);
    await this.#handle.close();
  }

  /** Once nothing is mounted on it any more, or never was. */
  async release(): Promise<void> {
    await this.#handle.close();
    const { mode } = await stat(this.#folder);
    if ((mode & MODE_BITS) === GUARDED && (await mountedAt(this.#folder)) === undefined) await this.#release();
  }

  async #release(): Promise<void> {
    await this.#setImmutable(this.#folder, false);
    await chmod(this.#folder, this.#mode).catch(() => {});
  }

  /** Root may write whatever a mode says. */
  async #setImmutable(path: string, on: boolean): Promise<void> {
    if (process.getuid?.() === 0) await run('chattr', ['-f', on ? '+i' : '-i', path]).catch(() => {});
  }
}

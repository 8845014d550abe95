// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, type FileHandle, open, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { mountedAt } from './mount-table.ts';

const run = promisify(execFile);

/** Read-only for all users; the sticky bit marks that we have set it. */
const GUARDED = 0o1555;
/** The mode to restore if the daemon that knew the original was killed. */
const USUAL = 0o755;
const MODE_BITS = 0o7777;

/**
 * The folder beneath a mount, which reappears when the mount goes, also after a crash. A file written there would hide
 * beneath the next mount, so a guarded folder refuses all writes, those of root too where chattr(1) works.
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

  /** Call once the mount covers it: its descriptor still leads to the folder. Another user's folder stays as is. */
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

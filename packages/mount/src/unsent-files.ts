// SPDX-License-Identifier: MPL-2.0
import { copyFile, mkdir, rename, unlink, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { UnsentReport } from './host-messages.ts';

/** The changes that a mount could not send before it ended. */
export interface Unsent {
  /** The number of files whose changes the other peer lacks. */
  unsent: number;
  /** The folder that has them now. */
  keptIn: string | undefined;
}

const MOST_FOLDERS = 1000;
/** Added to the name of a file with bytes that this side never had. */
const INCOMPLETE = ' (incomplete)';

/**
 * Moves unsent files from the cache of a mount to a new folder beside the mounted one, or else in the home folder.
 *
 * @returns the folder; undefined if nothing could be kept
 */
export async function keepUnsent(
  files: readonly UnsentReport[],
  { cache, folder }: { cache: string; folder: string },
): Promise<string | undefined> {
  if (files.length === 0) return undefined;
  const name = `${basename(folder)} (unsent ${today()})`;
  const keptIn = (await newFolder(join(dirname(folder), name))) ?? (await newFolder(join(homedir(), name)));
  if (keptIn === undefined) return undefined;
  const kept = await Promise.all(files.map((file) => keep(file, cache, keptIn)));
  return kept.includes(true) ? keptIn : undefined;
}

async function newFolder(wanted: string): Promise<string | undefined> {
  for (let number = 1; number <= MOST_FOLDERS; number++) {
    const folder = number === 1 ? wanted : `${wanted} ${number}`;
    try {
      await mkdir(folder, { mode: 0o700 });
      return folder;
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
    }
  }
  return undefined;
}

/** @returns whether it is kept */
async function keep({ token, mtimeNs, complete, path }: UnsentReport, cache: string, keptIn: string): Promise<boolean> {
  const from = join(cache, `${token}.data`);
  const name = complete ? path : `${path}${INCOMPLETE}`;
  const moved = await move(from, join(keptIn, name)).catch(() => undefined);
  // A name that is too long, or taken by a directory: its data counts more.
  const to = moved ?? (await move(from, join(keptIn, token)).catch(() => undefined));
  if (to === undefined) return false;
  const seconds = Number(mtimeNs / 1_000_000n) / 1000;
  await utimes(to, seconds, seconds).catch(() => {});
  return true;
}

async function move(from: string, to: string): Promise<string> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rename(from, to).catch(async (reason: NodeJS.ErrnoException) => {
    if (reason.code !== 'EXDEV') throw reason;
    await copyFile(from, to);
    await unlink(from);
  });
  return to;
}

function today(): string {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

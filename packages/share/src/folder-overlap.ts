// SPDX-License-Identifier: MPL-2.0
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type MountSource, mountsOfOurs } from '@keibidrop/mount';
import { KeibiError } from '@keibidrop/protocol';

/** Limit of parent folders to test: as many as a sharing peer answers at once. */
const MAX_ABOVE = 32;
/** A peer that does not answer within this time is ignored. */
const ANSWER_MS = 5_000;

/** Whether one of two folders equals or contains the other. Both absolute, without symlinks. */
export function overlap(one: string, other: string): boolean {
  return holds(one, other) || holds(other, one);
}

function holds(folder: string, path: string): boolean {
  return folder === path || path.startsWith(folder === '/' ? folder : `${folder}/`);
}

/**
 * Refuses to share a folder that equals, contains or lies in a mounted share, because the share would appear within itself.
 * @throws TRANSFER_SOURCE_UNSUPPORTED
 */
export async function refuseMounted(folder: string): Promise<void> {
  const mounted = (await mountsOfOurs()).find((one) => overlap(one.folder, folder));
  if (mounted === undefined) return;
  const text = `${folder} cannot be shared: ${mounted.folder} is a mounted share. Unmount it first, or share another folder.`;
  throw new KeibiError('TRANSFER_SOURCE_UNSUPPORTED', text);
}

/**
 * Refuses to mount a share inside the folder that it shares, on this computer or another, because it would contain itself
 * without end. To find out, it briefly creates a file there and looks for that file in the share.
 *
 * @throws MOUNT_UNAVAILABLE
 */
export async function refuseShownWithin(
  source: MountSource,
  folder: string,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  if ((await mountsOfOurs()).some((one) => one.folder === folder)) return; // the mount itself reports it as in use
  const mark = `.keibidrop-${randomUUID()}`;
  const marked = await markAbove(folder, mark);
  if (marked === undefined) return;
  const answered = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    const above = [marked];
    while (above.length < MAX_ABOVE && above.at(-1) !== '/') above.push(dirname(above.at(-1) as string));
    const shows = (one: string) =>
      source.stat(join(relative(one, marked), mark), { signal: answered }).then(
        () => true,
        () => false,
      );
    if (!(await Promise.all(above.map(shows))).includes(true)) return;
  } finally {
    await rm(join(marked, mark), { force: true });
  }
  const text = `${folder} is in the folder that ${source.name} shares, so the mount would contain itself. Choose another folder.`;
  throw new KeibiError('MOUNT_UNAVAILABLE', text);
}

/** @returns  the folder or its nearest existing parent; undefined if it is not writable */
async function markAbove(folder: string, mark: string): Promise<string | undefined> {
  try {
    await writeFile(join(folder, mark), '', { flag: 'wx', mode: 0o600 });
    return folder;
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code !== 'ENOENT';
    return isThere || folder === '/' ? undefined : markAbove(dirname(folder), mark);
  }
}

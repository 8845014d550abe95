// SPDX-License-Identifier: MPL-2.0
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type MountSource, mountsOfOurs } from '@keibidrop/mount';
import { KeibiError } from '@keibidrop/protocol';

/** Folders above one that are tried: no more than a sharing peer answers at once. */
const MAX_ABOVE = 32;
/** A peer that does not answer is not waited for. */
const ANSWER_MS = 5_000;

/** Whether one of two folders is the other, or holds it. Both absolute, without symlinks. */
export function overlap(one: string, other: string): boolean {
  return holds(one, other) || holds(other, one);
}

function holds(folder: string, path: string): boolean {
  return folder === path || path.startsWith(folder === '/' ? folder : `${folder}/`);
}

/** What is shared must not be, hold or be held by what somebody else shares with us: it would be shown within itself. @throws TRANSFER_SOURCE_UNSUPPORTED */
export async function refuseMounted(folder: string): Promise<void> {
  const mounted = (await mountsOfOurs()).find((one) => overlap(one.folder, folder));
  if (mounted === undefined) return;
  const text = `${folder} cannot be shared: ${mounted.folder} is a mounted share. Unmount it first, or share another folder.`;
  throw new KeibiError('TRANSFER_SOURCE_UNSUPPORTED', text);
}

/**
 * A share must not be shown in a folder that it holds itself, by whatever process of this computer or another it is shared: it would have no end.
 * Whether it does is found out by a file that is put there for a moment, and looked for in the share.
 *
 * @throws MOUNT_UNAVAILABLE
 */
export async function refuseShownWithin(
  source: MountSource,
  folder: string,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  if ((await mountsOfOurs()).some((one) => one.folder === folder)) return; // it is told to be in use
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
  const text = `${folder} is in the folder that ${source.name} shares: it would be shown within itself. Choose another folder.`;
  throw new KeibiError('MOUNT_UNAVAILABLE', text);
}

/** @returns  the folder, or the first one above it that is there; undefined where nothing may be written */
async function markAbove(folder: string, mark: string): Promise<string | undefined> {
  try {
    await writeFile(join(folder, mark), '', { flag: 'wx', mode: 0o600 });
    return folder;
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code !== 'ENOENT';
    return isThere || folder === '/' ? undefined : markAbove(dirname(folder), mark);
  }
}

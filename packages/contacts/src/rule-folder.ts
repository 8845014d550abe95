// SPDX-License-Identifier: MPL-2.0
import { constants } from 'node:fs';
import { access, mkdir, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';

/**
 * Checks, by trying, that transfers of a contact can be received there. Leaves no files behind.
 *
 * @param folder  absolute; need not exist
 * @throws USAGE
 */
export async function assertUsableFolder(folder: string): Promise<void> {
  const made: string[] = [];
  try {
    await make(folder, made);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KeibiError('USAGE', `Nothing can be received into ${folder}: ${reason}. Name another folder.`, { cause });
  } finally {
    for (const one of made.reverse()) await rmdir(one).catch(() => {});
  }
}

/** Node's own recursive mkdir never returns below /proc. */
async function make(folder: string, made: string[]): Promise<void> {
  const found = await stat(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
    return undefined;
  });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw new Error('it is not a folder');
  await make(dirname(folder), made);
  await mkdir(folder);
  made.push(folder);
}

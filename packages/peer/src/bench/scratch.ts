// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { KeibiError, messageFor } from '@keibidrop/protocol';

/** Space that a bench leaves free on the disk. */
const SPARE_BYTES = 64 * 2 ** 20;

/**
 * Runs with a temporary directory in `dir`, which is removed with its content when the promise settles.
 *
 * @param bytes  expected size of its content
 * @throws TRANSFER_DESTINATION_UNUSABLE, TRANSFER_DISK_FULL, both before anything is written
 */
export async function withScratch<T>(dir: string, bytes: number, run: (scratch: string) => Promise<T>): Promise<T> {
  let scratch: string;
  try {
    await assertRoom(dir, bytes);
    scratch = await mkdtemp(join(dir, '.keibidrop-bench-'));
  } catch (reason) {
    throw unusable(reason, dir);
  }
  try {
    return await run(scratch);
  } catch (reason) {
    throw unusable(reason, dir);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** @throws TRANSFER_DISK_FULL */
export async function assertRoom(dir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize >= bytes + SPARE_BYTES) return;
  const megabytes = (count: number) => `${Math.ceil(count / 1e6)} MB`;
  const [needed, free] = [megabytes(bytes + SPARE_BYTES), megabytes(bavail * bsize)];
  throw new KeibiError(
    'TRANSFER_DISK_FULL',
    `${dir} has ${free} free and the bench needs ${needed}. Choose another with --dir, or less with --size.`,
  );
}

/** Converts errors of the system and of native code to errors of this command. */
function unusable(reason: unknown, dir: string): unknown {
  if (reason instanceof KeibiError || !(reason instanceof Error)) return reason;
  const { code } = reason as NodeJS.ErrnoException;
  if (code === 'TRANSFER_DISK_FULL' || code === 'ENOSPC' || code === 'EDQUOT') {
    return new KeibiError('TRANSFER_DISK_FULL', `${dir}: ${messageFor('TRANSFER_DISK_FULL')}`, { cause: reason });
  }
  const system = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'TRANSFER_DESTINATION_UNUSABLE'];
  if (!system.includes(code ?? '')) return reason;
  // For example "ENOENT: no such file or directory, mkdtemp '/…'" or "the destination cannot be written: Permission denied".
  const why = /^.*: ([^,]+)/.exec(reason.message)?.[1] ?? reason.message;
  const message = `${dir} cannot be written (${why}). Choose another with --dir.`;
  return new KeibiError('TRANSFER_DESTINATION_UNUSABLE', message, { cause: reason });
}

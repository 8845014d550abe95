// SPDX-License-Identifier: MPL-2.0
import { assertInteger } from './arguments.ts';
import { loadBinding } from './binding.ts';

interface FileLockBinding {
  tryLock(fd: number): boolean;
}

/**
 * Takes the lock of an open file, which only one open file holds at a time; false if another holds it. Never waits.
 *
 * Closing the file releases it, and so does any end of the process.
 *
 * @param fd  stays the caller's
 * @throws    a system error, with its name as `code`, where the file system has no locks
 */
export function tryLock(fd: number): boolean {
  assertInteger('fd', fd, 0, 2 ** 31 - 1);
  return loadBinding<FileLockBinding>().tryLock(fd);
}

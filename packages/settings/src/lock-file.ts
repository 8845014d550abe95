// SPDX-License-Identifier: MPL-2.0
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { tryLock } from '@keibidrop/native';

const RETRY_MS = 5;

/**
 * Takes the lock of a file, which is created if missing; undefined if another process holds it. Closing the handle, or the end
 * of the process, releases it.
 */
export async function tryLockFile(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, 'a', 0o600);
  if (tryLock(file.fd)) return file;
  await file.close();
  return undefined;
}

/** Runs `work` while this process alone holds the lock of that file; waits for the lock. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const held = await tryLockFile(path);
    if (held === undefined) {
      await setTimeout(RETRY_MS);
      continue;
    }
    try {
      return await work();
    } finally {
      await held.close();
    }
  }
}

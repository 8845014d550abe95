// SPDX-License-Identifier: MPL-2.0
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { tryLock } from '@keibidrop/native';

const RETRY_MS = 5;

/** Takes the lock of a file, which is made; undefined if another holds it. Closing the handle, or the end of the process, gives it back. */
export async function tryLockFile(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, 'a', 0o600);
  if (tryLock(file.fd)) return file;
  await file.close();
  return undefined;
}

/** Does `work` while no other process holds the lock of that file; waits for it. */
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

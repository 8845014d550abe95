// SPDX-License-Identifier: MPL-2.0
import { lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';

/** Where this user's programs leave each other notes: `$XDG_RUNTIME_DIR/keibidrop`, else `keibidrop-<uid>` in the directory for temporary files. */
export function runtimeDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_RUNTIME_DIR;
  return base ? join(base, 'keibidrop') : join(tmpdir(), `keibidrop-${process.getuid?.() ?? 'user'}`);
}

/** Makes a directory that only this user can use. @throws CONFIG_INVALID as `assertPrivate` does, or if it cannot be made */
export async function makePrivate(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new KeibiError('CONFIG_INVALID', `The directory ${directory} cannot be made.`, { cause });
    }
  }
  await assertPrivate(directory);
}

/**
 * Checks that a directory is this user's alone: what stands in it says where to dial, so nobody else may write it.
 * @returns  false if there is no such directory
 * @throws   CONFIG_INVALID if it is a symlink or no directory, another user's, or open to others
 */
export async function assertPrivate(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new KeibiError('CONFIG_INVALID', `The directory ${directory} cannot be read.`, { cause });
  });
  if (found === undefined) return false;
  const uid = process.getuid?.();
  const ours = uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0);
  if (!found.isDirectory() || !ours) {
    throw new KeibiError(
      'CONFIG_INVALID',
      `${directory} is not a directory of your own with mode 0700. Remove it and try again.`,
    );
  }
  return true;
}

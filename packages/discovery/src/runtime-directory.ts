// SPDX-License-Identifier: MPL-2.0
import { lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';

/** Directory in which this user's programs find each other: `$XDG_RUNTIME_DIR/keibidrop`, else `keibidrop-<uid>` in the temporary directory. */
export function runtimeDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_RUNTIME_DIR;
  return base ? join(base, 'keibidrop') : join(tmpdir(), `keibidrop-${process.getuid?.() ?? 'user'}`);
}

/** Makes a directory that only this user can access. @throws CONFIG_INVALID as `assertPrivate` does, or if it cannot be made */
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
 * Checks that only this user can access a directory: its files say where to dial, so other users must not write there.
 * @returns  false if the directory does not exist
 * @throws   CONFIG_INVALID if it is a symlink, not a directory, owned by another user, or open to others
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

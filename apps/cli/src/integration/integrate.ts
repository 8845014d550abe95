// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isWritten } from '@keibidrop/integration';
import { KeibiError } from '@keibidrop/protocol';
import { quoted } from '../terminal/terminal-text.ts';
import type { IntegrationFile, UserDirectories } from './integration-files.ts';

/** `kept`: a file of that name is there, and is not ours. */
export type Outcome = 'written' | 'unchanged' | 'kept' | 'removed' | 'absent';

/** @throws FOLDER_UNREADABLE with the path that cannot be written */
export async function writeFileOf({ path, content, mode }: IntegrationFile): Promise<Outcome> {
  try {
    const wanted = typeof content === 'string' ? Buffer.from(content) : await readFile(content.copyOf);
    const present = await contentAt(path);
    if (present !== undefined && !isOurs(present, content)) return 'kept';
    if (present?.equals(wanted) && ((await stat(path)).mode & 0o777) === mode) return 'unchanged';
    await mkdir(dirname(path), { recursive: true });
    const work = `${path}.${process.pid}.new`;
    await writeFile(work, wanted, { mode, flag: 'wx' });
    await rename(work, path);
    return 'written';
  } catch (cause) {
    throw notWritable(path, cause);
  }
}

/** Leaves the folders, which file managers may have made. @throws FOLDER_UNREADABLE */
export async function removeFileOf({ path, content }: IntegrationFile): Promise<Outcome> {
  try {
    const present = await contentAt(path);
    if (present === undefined) return 'absent';
    if (!isOurs(present, content)) return 'kept';
    await rm(path);
    return 'removed';
  } catch (cause) {
    throw notWritable(path, cause);
  }
}

/** Lists the menu entries by the links that they open. False without the program for it (desktop-file-utils). */
export function updateLinkTypes({ data }: UserDirectories): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('update-desktop-database', [join(data, 'applications')], (error) => resolve(error === null));
  });
}

/** Icons carry no mark: those of our name are ours. */
function isOurs(present: Buffer, content: IntegrationFile['content']): boolean {
  return typeof content !== 'string' || isWritten(present.toString());
}

async function contentAt(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw reason;
  }
}

function notWritable(path: string, cause: unknown): KeibiError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const text = `${quoted(path)} cannot be changed (${why}). Check the permissions of its folder, then run it again.`;
  return new KeibiError('FOLDER_UNREADABLE', text, { cause });
}

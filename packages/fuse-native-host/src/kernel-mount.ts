// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether anything is mounted there. */
export async function isMounted(folder: string): Promise<boolean> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  const escaped = folder.replaceAll(/[ \t\n\\]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return table.split('\n').some((line) => line.split(' ')[4] === escaped);
}

export async function isThere(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  );
}

/**
 * Runs system programs, asynchronously, since they access the folder. @param forced  even while in use @returns
 * whether it is unmounted
 */
export async function unmount(folder: string, forced: boolean): Promise<boolean> {
  const attempts = process.getuid?.() === 0 ? [['umount', ...(forced ? ['-l'] : []), '--', folder]] : [];
  for (const program of ['fusermount3', 'fusermount'])
    attempts.push([program, '-u', ...(forced ? ['-z'] : []), '--', folder]);
  for (const [program = '', ...words] of attempts) {
    if (!(await isMounted(folder))) return true;
    await run(program, words).catch(() => {});
  }
  return !(await isMounted(folder));
}

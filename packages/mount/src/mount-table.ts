// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findMountHost } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';

/** Something that is mounted. */
export interface Mounted {
  folder: string;
  type: string;
}

/** What the kernel calls our mounts, in the table of all. */
const OUR_TYPE = 'fuse.keibidrop';
const FUSERMOUNT = 'fusermount3';
const run = promisify(execFile);

/** Our mounts of this machine, also those of other processes and stale ones. Asks none of them anything. */
export async function mountsOfOurs(): Promise<Mounted[]> {
  return (await mounts()).filter(({ type }) => type === OUR_TYPE);
}

/** What is mounted on exactly this folder, the topmost. */
export async function mountedAt(folder: string): Promise<Mounted | undefined> {
  return (await mounts()).findLast((one) => one.folder === folder);
}

async function mounts(): Promise<Mounted[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const found: Mounted[] = [];
  for (const line of table.split('\n')) {
    // proc_pid_mountinfo(5): the fifth field is the folder; the type follows the ` - ` behind a number of optional fields.
    const [fields = '', end = ''] = line.split(' - ');
    const folder = fields.split(' ')[4];
    const type = end.split(' ')[0];
    if (folder && type) found.push({ folder: unescaped(folder), type });
  }
  return found;
}

function unescaped(folder: string): string {
  const bytes = folder.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  // What the kernel wrote was decoded already; the escapes stand for ASCII alone.
  return bytes;
}

/**
 * Takes away what a killed mount host has left on a folder.
 *
 * @returns whether there was something
 */
export async function clearStaleMount(folder: string): Promise<boolean> {
  const there = await mountedAt(folder);
  if (there?.type !== OUR_TYPE || !(await isStale(folder))) return false;
  await unmountForced(folder);
  return true;
}

/** Its host has gone: every call fails, and none waits. */
async function isStale(folder: string): Promise<boolean> {
  try {
    await stat(folder);
    return false;
  } catch (reason) {
    return ['ENOTCONN', 'ECONNABORTED'].includes((reason as NodeJS.ErrnoException).code ?? '');
  }
}

/** Also from under those who use it. @throws MOUNT_BUSY */
async function unmountForced(folder: string): Promise<void> {
  const attempts = process.getuid?.() === 0 ? [['umount', '-l', '--', folder]] : [];
  attempts.push([FUSERMOUNT, '-u', '-z', '--', folder]);
  let cause: unknown;
  for (const [program = '', ...words] of attempts) {
    try {
      await run(program, words);
      return;
    } catch (reason) {
      cause = reason;
    }
  }
  // fusermount3 watches over each mount, too, and may have been faster.
  if ((await mountedAt(folder))?.type !== OUR_TYPE) return;
  throw new KeibiError('MOUNT_BUSY', `What is left on ${folder} cannot be taken away: unmount it yourself.`, { cause });
}

/** Why nothing can be mounted here, in a sentence with what to do; undefined if it can. */
export async function whyNotMountable(): Promise<string | undefined> {
  if (findMountHost() === undefined)
    return 'This KeibiDrop was built without libfuse3. Install it (Debian: apt-get install libfuse3-dev fuse3) and run scripts/setup.';
  const device = await access('/dev/fuse', constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!device)
    return 'There is no /dev/fuse that can be opened. Load the kernel module (modprobe fuse), or give the container the device.';
  const helper = await run(FUSERMOUNT, ['--version']).then(
    () => true,
    () => false,
  );
  if (!helper) return 'fusermount3 is missing. Install it (Debian: apt-get install fuse3).';
  return undefined;
}

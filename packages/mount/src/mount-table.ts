// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { KeibiError } from '@keibidrop/protocol';

/** Something that is mounted. */
export interface Mounted {
  folder: string;
  type: string;
  /** Minor number of its device, by which the kernel names the connection to its host. */
  device: string;
}

/** The type of our mounts in the kernel's table. */
const OUR_TYPE = 'fuse.keibidrop';
/** That of libfuse 3, and that of libfuse 2. */
const FUSERMOUNTS = ['fusermount3', 'fusermount'];
const run = promisify(execFile);

/** Our mounts of this machine, also those of other processes and stale ones. Asks none of them anything. */
export async function mountsOfOurs(): Promise<Mounted[]> {
  return (await mounts()).filter(({ type }) => type === OUR_TYPE);
}

/** The topmost mount on exactly this folder. */
export async function mountedAt(folder: string): Promise<Mounted | undefined> {
  return (await mounts()).findLast((one) => one.folder === folder);
}

async function mounts(): Promise<Mounted[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const found: Mounted[] = [];
  for (const line of table.split('\n')) {
    // proc_pid_mountinfo(5): the fifth field is the folder; the type follows the ` - ` behind a number of optional fields.
    const [fields = '', end = ''] = line.split(' - ');
    const [, , device = '', , folder] = fields.split(' ');
    const type = end.split(' ')[0];
    if (folder && type) found.push({ folder: unescaped(folder), type, device: device.split(':')[1] ?? '' });
  }
  return found;
}

function unescaped(folder: string): string {
  const bytes = folder.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  // The text was decoded before; the escapes stand for ASCII only.
  return bytes;
}

/**
 * Removes the mount that a killed mount host has left on a folder.
 *
 * @returns whether there was something
 */
export async function clearStaleMount(folder: string): Promise<boolean> {
  const there = await mountedAt(folder);
  if (there?.type !== OUR_TYPE || !(await isStale(folder))) return false;
  await unmountForced(folder);
  return true;
}

/**
 * Makes the kernel answer ECONNABORTED to all requests that a dead host cannot answer. One of them may block a thread
 * of the host itself: then the host, though killed, cannot end, and its end is not reported.
 */
export async function abortMount(folder: string): Promise<void> {
  const there = await mountedAt(folder);
  if (there?.type !== OUR_TYPE) return;
  const aborted = await writeFile(`/sys/fs/fuse/connections/${there.device}/abort`, '1').then(
    () => true,
    () => false,
  );
  // Where fusectl is not mounted; it needs root.
  if (!aborted && process.getuid?.() === 0) await run('umount', ['-c', '-i', '-f', '-l', '--', folder]).catch(() => {});
}

/** Whether its host has gone: every call fails, and none waits. */
async function isStale(folder: string): Promise<boolean> {
  try {
    await stat(folder);
    return false;
  } catch (reason) {
    return ['ENOTCONN', 'ECONNABORTED'].includes((reason as NodeJS.ErrnoException).code ?? '');
  }
}

/** Unmounts even while in use. @throws MOUNT_BUSY */
async function unmountForced(folder: string): Promise<void> {
  const attempts = process.getuid?.() === 0 ? [['umount', '-l', '--', folder]] : [];
  for (const program of FUSERMOUNTS) attempts.push([program, '-u', '-z', '--', folder]);
  let cause: unknown;
  for (const [program = '', ...words] of attempts) {
    try {
      await run(program, words);
      return;
    } catch (reason) {
      cause = reason;
    }
  }
  // fusermount3 also watches each mount, and may have been faster.
  if ((await mountedAt(folder))?.type !== OUR_TYPE) return;
  throw new KeibiError('MOUNT_BUSY', `What is left on ${folder} cannot be taken away: unmount it yourself.`, { cause });
}

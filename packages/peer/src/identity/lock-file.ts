// SPDX-License-Identifier: MPL-2.0
import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** Whoever holds a lock needs milliseconds; who still seems to have it then was killed, and its number given to another. */
const STALE_MS = 60_000;
const RETRY_MS = 10;

/**
 * Runs `act` while no other process does so under the same name: for what is read, changed and written. What a process leaves that was
 * killed meanwhile is cleared by the next.
 *
 * @param path  of a file that is there while `act` runs
 * @throws      the system's error if it cannot be made; whatever `act` throws
 */
export async function whileLocked<T>(path: string, act: () => Promise<T>): Promise<T> {
  const own = JSON.stringify({ pid: process.pid, holder: randomUUID() });
  const draft = `${path}.${randomUUID()}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(draft, own, { mode: 0o600, flag: 'wx' });
  try {
    while (!(await linked(draft, path))) {
      if (!(await clearedIfStale(path))) await setTimeout(RETRY_MS * (0.5 + Math.random()));
    }
  } finally {
    await unlink(draft);
  }
  try {
    return await act();
  } finally {
    if ((await textOf(path)) === own) await unlink(path);
  }
}

/** Removes the lock of a process that is gone. Only who holds the name made of its text may, so a newer lock is never taken for it. */
async function clearedIfStale(path: string): Promise<boolean> {
  const text = await textOf(path);
  if (text === undefined) return true;
  if (isHeld(text) && (await ageMs(path)) < STALE_MS) return false;
  const claim = `${path}.${createHash('sha256').update(text).digest('hex')}`;
  if (await linked(path, claim)) {
    if ((await textOf(claim)) === text) await unlink(path).catch(() => {});
    await unlink(claim).catch(() => {});
    return true;
  }
  if ((await ageMs(claim)) > STALE_MS) await unlink(claim).catch(() => {});
  return false;
}

function isHeld(text: string): boolean {
  try {
    process.kill(JSON.parse(text).pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** False if `to` is there already, or `from` is not there any more. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw cause;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/** Since its last link or change; 0 if it is not there. */
async function ageMs(path: string): Promise<number> {
  return stat(path).then(
    ({ ctimeMs }) => Date.now() - ctimeMs,
    () => 0,
  );
}

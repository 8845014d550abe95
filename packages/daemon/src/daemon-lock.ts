// SPDX-License-Identifier: MPL-2.0
import { type FileHandle, mkdir, readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { KeibiError } from '@keibidrop/protocol';
import { tryLockFile } from '@keibidrop/settings/files';

const MAX_NOTE_BYTES = 4096;
/** A program that waits for a daemon to end holds the lock for a moment. */
const TRIES = 10;
const RETRY_MS = 20;

/** Content of the lock file: the daemon that holds the lock. */
export interface DaemonNote {
  readonly pid: number;
  readonly host: string;
  readonly socket: string;
}

/**
 * Takes the lock of a state directory. It locks the inode of a file there, so every path to the directory leads to the same
 * lock.
 *
 * @throws DAEMON_RUNNING naming the process that holds it; CONFIG_INVALID if the file cannot be created
 */
export async function holdDaemonLock(file: string, socket: string): Promise<FileHandle> {
  const held = await locked(file);
  if (held === undefined) throw alreadyRunning(await readDaemonNote(file));
  try {
    await held.truncate(0);
    await held.write(JSON.stringify({ pid: process.pid, host: hostname(), socket } satisfies DaemonNote));
    return held;
  } catch (cause) {
    await held.close();
    throw unusable(file, cause);
  }
}

/** Clears the note and releases the lock. */
export async function releaseDaemonLock(held: FileHandle): Promise<void> {
  await held.truncate(0).catch(() => {});
  await held.close();
}

/** Reads the note of the last daemon, which may have been killed; undefined if it is missing or malformed. */
export async function readDaemonNote(file: string): Promise<DaemonNote | undefined> {
  try {
    if ((await stat(file)).size > MAX_NOTE_BYTES) return undefined;
    const { pid, host, socket } = JSON.parse(await readFile(file, 'utf8')) as Partial<DaemonNote>;
    if (!Number.isSafeInteger(pid) || typeof host !== 'string' || typeof socket !== 'string') return undefined;
    return { pid: pid as number, host, socket };
  } catch {
    return undefined;
  }
}

/** @param note  of the daemon that holds the lock, if it has been written */
function alreadyRunning(note: DaemonNote | undefined): KeibiError {
  if (note === undefined) return new KeibiError('DAEMON_RUNNING');
  const where = note.host === hostname() ? '' : ` on ${note.host}`;
  const message = `A daemon runs for this configuration already: process ${note.pid}${where}, at ${note.socket}. End it with keibidrop stop.`;
  return new KeibiError('DAEMON_RUNNING', message);
}

async function locked(file: string): Promise<FileHandle | undefined> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    for (let i = 0; i < TRIES; i++) {
      const held = await tryLockFile(file);
      if (held !== undefined) return held;
      await setTimeout(RETRY_MS);
    }
    return undefined;
  } catch (cause) {
    throw unusable(file, cause);
  }
}

function unusable(file: string, cause: unknown): KeibiError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new KeibiError('CONFIG_INVALID', `${file} cannot be written: ${reason}.`, { cause });
}

// SPDX-License-Identifier: MPL-2.0
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KeibiError, messageFor } from '@keibidrop/protocol';

/** Number and size of the files that a send of a path carries. */
export interface PathMeasure {
  readonly folder: boolean;
  readonly files: number;
  readonly bytes: number;
  /** False: the count stopped at a limit. */
  readonly complete: boolean;
}

const MAX_ENTRIES = 200_000;
const MAX_MS = 20_000;
/** Concurrent stat calls within one folder. */
const AT_ONCE = 64;

/**
 * Counts a file, or the files below a folder, without following symlinks inside it. Unreadable entries count as nothing.
 *
 * @throws TRANSFER_SOURCE_MISSING, TRANSFER_SOURCE_UNREADABLE; `signal.reason`
 */
export async function measurePath(path: string, signal: AbortSignal): Promise<PathMeasure> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    const code = cause.code === 'ENOENT' ? 'TRANSFER_SOURCE_MISSING' : 'TRANSFER_SOURCE_UNREADABLE';
    throw new KeibiError(code, messageFor(code, path), { cause });
  });
  if (!found.isDirectory()) return { folder: false, files: 1, bytes: found.size, complete: true };
  const counted = { files: 0, bytes: 0, entries: 0 };
  const until = performance.now() + MAX_MS;
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const complete = await measureFolder(folder, { counted, folders, until, signal });
    if (!complete) return { folder: true, files: counted.files, bytes: counted.bytes, complete: false };
  }
  return { folder: true, files: counted.files, bytes: counted.bytes, complete: true };
}

interface Walk {
  counted: { files: number; bytes: number; entries: number };
  folders: string[];
  until: number;
  signal: AbortSignal;
}

/** @returns  false when a limit was reached */
async function measureFolder(folder: string, { counted, folders, until, signal }: Walk): Promise<boolean> {
  const directory = await opendir(folder).catch(() => undefined);
  if (directory === undefined) return true;
  const waiting: Promise<void>[] = [];
  const add = async (file: string) => {
    const found = await stat(file).catch(() => undefined);
    if (found === undefined) return;
    counted.files++;
    counted.bytes += found.size;
  };
  for await (const entry of directory) {
    signal.throwIfAborted();
    if (++counted.entries > MAX_ENTRIES || performance.now() > until) return false;
    if (entry.isDirectory()) folders.push(join(folder, entry.name));
    else if (entry.isFile()) waiting.push(add(join(folder, entry.name)));
    if (waiting.length >= AT_ONCE) await Promise.all(waiting.splice(0));
  }
  await Promise.all(waiting);
  return true;
}

/** Counts all paths of a send together; undefined if there are too many to count, or one cannot be read. */
export async function measureAll(
  paths: readonly string[],
  signal: AbortSignal,
): Promise<{ files: number; bytes: number } | undefined> {
  const sum = { files: 0, bytes: 0 };
  for (const path of paths) {
    const measure = await measurePath(path, signal).catch(() => undefined);
    signal.throwIfAborted();
    if (measure?.complete !== true) return undefined;
    sum.files += measure.files;
    sum.bytes += measure.bytes;
  }
  return sum;
}

// SPDX-License-Identifier: MPL-2.0
import { randomUUID } from 'node:crypto';
import { constants, type FileHandle, link, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ErrorCode, KeibiError } from '@keibidrop/protocol';
import { fileError } from './disk-full.ts';

/** How a file is used: the limit for reading it, and the error when it cannot be used. */
export interface FileUse {
  readonly maxBytes: number;
  readonly unusable: ErrorCode;
}

const IDENTITY: FileUse = { maxBytes: 8192, unusable: 'IDENTITY_LOCKED' };
/** A copy may also hold contacts. */
const COPY: FileUse = { ...IDENTITY, maxBytes: 5 * 2 ** 20 };
const OTHERS = 0o077;

/**
 * Reads a small file that only this user can access.
 *
 * @returns  undefined if there is none
 * @throws `use.unusable` if others may read or write it, or it cannot be read
 */
export function readPrivate(path: string, use: FileUse = IDENTITY): Promise<Uint8Array | undefined> {
  return read(path, OTHERS, use);
}

/** The same without the check of permissions, for a copy on a removable disk that has none. */
export function readCopy(path: string): Promise<Uint8Array | undefined> {
  return read(path, 0, COPY);
}

async function read(path: string, forbidden: number, use: FileUse): Promise<Uint8Array | undefined> {
  let file: FileHandle | undefined;
  try {
    // Not blocking, because the path may be a pipe.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile()) throw new KeibiError(use.unusable, `${path} is not a file.`);
    if ((found.mode & forbidden) !== 0) {
      throw new KeibiError(use.unusable, `Others may read or change ${path}. If no one has, run chmod 600 on it.`);
    }
    const buffer = new Uint8Array(Math.min(found.size, use.maxBytes));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileError(use.unusable, path, 'read', cause);
  } finally {
    await file?.close();
  }
}

/**
 * Writes a file that only this user can read. It is written completely or not at all, and is on the disk when this resolves.
 *
 * @param replace  false: keeps an existing file
 * @param check    called with the path of the complete file before it gets its name; nothing is changed if it throws
 * @returns  whether it was written
 * @throws DISK_FULL; `unusableAs` if it cannot be written for another reason; errors of `check`
 */
export async function writePrivate(
  path: string,
  bytes: Uint8Array,
  { replace, check }: { replace: boolean; check?: (fresh: string) => Promise<void> },
  unusableAs: ErrorCode = IDENTITY.unusable,
): Promise<boolean> {
  const fresh = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(fresh, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await check?.(fresh);
    const written = replace ? await rename(fresh, path).then(() => true) : await linked(fresh, path);
    await syncDirectory(dirname(path));
    return written;
  } catch (cause) {
    throw fileError(unusableAs, path, 'written', cause);
  } finally {
    await unlink(fresh).catch(() => {});
  }
}

/** Gives `from` a second name, unless that is taken. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cause;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  await directory.sync().finally(() => directory.close());
}

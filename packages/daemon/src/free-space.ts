// SPDX-License-Identifier: MPL-2.0
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Bytes that may still be written under `path`, or under its nearest existing parent; undefined if unknown. */
export async function freeBytes(path: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(path);
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return missing && parent !== path ? freeBytes(parent) : undefined;
  }
}

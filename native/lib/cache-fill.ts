// SPDX-License-Identifier: MPL-2.0
import type { CachedFile } from '@keibidrop/protocol';
import { assertInteger, assertText, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';

/** Blocks of 64 KiB of one local file in the expected version, and their place in the cache of a mount. */
export interface CacheFill extends CachedFile {
  /** Absolute path on this machine; `path` is relative to it, and no symlink is followed. */
  folder: string;
  first: number;
  count: number;
}

interface CacheFillBinding {
  fillCache(
    folder: string,
    path: string,
    directory: string,
    key: string,
    size: number,
    mtimeNs: bigint,
    first: number,
    count: number,
  ): Promise<void>;
}

const MOST_BLOCKS = 0xffffffff;
const KEY = /^[0-9a-f]{32}$/;

/**
 * Copies those blocks of a local file that are missing in the cache of a mount. File bytes stay in native code.
 *
 * @throws TRANSFER_SOURCE_CHANGED if the file has another version; TRANSFER_SOURCE_MISSING, TRANSFER_SOURCE_UNREADABLE,
 * TRANSFER_PATH_REFUSED, TRANSFER_SIZE_MISMATCH (it has no such blocks), TRANSFER_DISK_FULL,
 * TRANSFER_DESTINATION_UNUSABLE
 */
export function fillCache(fill: CacheFill): Promise<void> {
  const { folder, path, directory, key, size, mtimeNs, first, count } = fill;
  assertText('folder', folder);
  assertText('path', path);
  assertText('directory', directory);
  if (!KEY.test(key)) throw misuse('key must be 32 hexadecimal digits');
  assertInteger('size', size, 0, Number.MAX_SAFE_INTEGER);
  if (typeof mtimeNs !== 'bigint') throw misuse('mtimeNs must be a bigint');
  assertInteger('first', first, 0, MOST_BLOCKS);
  assertInteger('count', count, 0, MOST_BLOCKS - first);
  return loadBinding<CacheFillBinding>().fillCache(folder, path, directory, key, size, mtimeNs, first, count);
}

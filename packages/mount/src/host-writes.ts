// SPDX-License-Identifier: MPL-2.0
import { callFailure, PageWriter, TOP } from '@keibidrop/protocol';
import type { FromWriter } from './host-message.ts';
import type { MadeSourceEntry, SourceEntry, SourceWrites } from './mount-source.ts';

/** Bytes take longer than names. The host waits slightly longer than this many times its timeout. */
const PUT_PATIENCE = 10;

/** The factor by which its timeout is longer. */
export function patienceOf({ type }: FromWriter): number {
  return type === 'put' || type === 'copy' ? PUT_PATIENCE : 1;
}

/** The result of a change for the host. */
export interface Applied {
  /** The new entry, sent before the end of the answer. */
  page?: Uint8Array;
  /** The new mtime of the entry's directory. */
  directoryMtimeNs?: bigint | undefined;
}

/**
 * Does what the host asks to be changed.
 *
 * @param options.cache  where the host keeps what is to be put
 */
export async function applyChange(
  writes: SourceWrites | undefined,
  message: FromWriter,
  { cache, signal }: { cache: string; signal: AbortSignal },
): Promise<Applied> {
  if (writes === undefined) throw callFailure('EROFS');
  switch (message.type) {
    case 'make':
      return madeOf(await make(writes, message, signal));
    case 'remove':
      return writes.remove(message.path, { directory: message.directory, signal });
    case 'rename':
      await writes.rename(message.from, message.to, { how: message.how, signal });
      return {};
    case 'change': {
      const { type: _, request: __, path, ...what } = message;
      return { page: pageOf(await writes.change(path, { ...what, signal })) };
    }
    case 'copy':
      return { page: pageOf(await writes.copy(message.from, message.to, { signal })) };
    case 'getAttribute':
      return { page: await writes.getAttribute(message.path, message.name, { signal }) };
    case 'setAttribute':
      await writes.setAttribute(message.path, message.name, message.value, { how: message.how, signal });
      return {};
    case 'removeAttribute':
      await writes.removeAttribute(message.path, message.name, { signal });
      return {};
    case 'listAttributes': {
      const names = await writes.listAttributes(message.path, { signal });
      return { page: Buffer.from(names.map((name) => `${name}\0`).join('')) };
    }
    case 'syncDirectory':
      await writes.syncDirectory(message.path, { signal });
      return {};
    case 'put': {
      const { type: _, request: __, ...file } = message;
      return { page: pageOf(await writes.put({ ...file, directory: cache, key: file.token }, { signal })) };
    }
  }
}

function madeOf({ directoryMtimeNs, ...entry }: MadeSourceEntry): Applied {
  return { page: pageOf(entry), directoryMtimeNs };
}

function make(writes: SourceWrites, { entry, path, mode, target }: FromWriter & { type: 'make' }, signal: AbortSignal) {
  if (entry === 'symlink') return writes.makeSymlink(path, { target, signal });
  return entry === 'directory' ? writes.makeDirectory(path, { mode, signal }) : writes.create(path, { mode, signal });
}

/** Has room for 256 KiB; an entry has about a hundred bytes. */
const single = new PageWriter();

/** A page with one entry. */
export function pageOf(entry: SourceEntry): Uint8Array {
  single.tryAdd(manifestEntryOf(entry), 0);
  return single.take();
}

/** An entry in the form of a manifest. */
export function manifestEntryOf({ type, name, size, mtimeNs, mode, target }: SourceEntry) {
  return { type, parent: TOP, name, size, mtimeNs, mode, ...(target !== undefined && { target }) };
}

// SPDX-License-Identifier: MPL-2.0

import { rules } from '@keibidrop/proto/mount-host';
import { callFailure, PageWriter, type ShareEntry, TOP } from '@keibidrop/protocol';
import type { ChangeRequest } from './host-messages.ts';
import type { MadeSourceEntry, SourceWrites } from './mount-source.ts';

/** The bits of `what` of a change. */
const CHANGE_MODE = 1;
const CHANGE_MTIME = 2;

/** The factor by which its timeout is longer. */
export function patienceOf({ type }: ChangeRequest): number {
  return type === 'put' || type === 'copy' ? rules.DAEMON_PUT_PATIENCES : 1;
}

/** The result of a change for the host. */
export interface Applied {
  /** The new entry, sent before the end of the answer. */
  page?: Uint8Array;
  /** The new mtime of the entry's directory. */
  directoryMtimeNs?: bigint | undefined;
}

/**
 * Applies a change that the host requests.
 *
 * @param options.cache  where the host keeps overlay files
 */
export async function applyChange(
  writes: SourceWrites | undefined,
  message: ChangeRequest,
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
      const mode = (message.what & CHANGE_MODE) !== 0 ? { mode: message.mode } : {};
      const mtimeNs = (message.what & CHANGE_MTIME) !== 0 ? { mtimeNs: message.mtimeNs } : {};
      return { page: pageOf(await writes.change(message.path, { ...mode, ...mtimeNs, signal })) };
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
      const { type: _, request: __, baseSize, baseMtimeNs, ...file } = message;
      const base = { size: baseSize, mtimeNs: baseMtimeNs };
      return { page: pageOf(await writes.put({ ...file, base, directory: cache, key: file.token }, { signal })) };
    }
  }
}

function madeOf({ directoryMtimeNs, ...entry }: MadeSourceEntry): Applied {
  return { page: pageOf(entry), directoryMtimeNs };
}

function make(
  writes: SourceWrites,
  { kind, path, mode, target }: ChangeRequest & { type: 'make' },
  signal: AbortSignal,
) {
  if (kind === 'symlink') return writes.makeSymlink(path, { target, signal });
  return kind === 'directory' ? writes.makeDirectory(path, { mode, signal }) : writes.create(path, { mode, signal });
}

/** Has room for 256 KiB; an entry has about a hundred bytes. */
const single = new PageWriter();

/** A page with one entry. */
export function pageOf(entry: ShareEntry): Uint8Array {
  single.tryAdd(manifestEntryOf(entry), 0);
  return single.take();
}

/** An entry in the form of a manifest. */
export function manifestEntryOf({ type, name, size, mtimeNs, mode, target }: ShareEntry) {
  return { type, parent: TOP, name, size, mtimeNs, mode, ...(target !== undefined && { target }) };
}

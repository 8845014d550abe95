// SPDX-License-Identifier: MPL-2.0
import { callFailure, PageWriter, TOP } from '@keibidrop/protocol';
import type { FromWriter } from './host-message.ts';
import type { SourceEntry, SourceWrites } from './mount-source.ts';

/** Bytes take longer than a name. The host waits a little longer than this many times its patience. */
const PUT_PATIENCE = 10;

/** For how much longer than anything else it may take. */
export function patienceOf({ type }: FromWriter): number {
  return type === 'put' || type === 'copy' ? PUT_PATIENCE : 1;
}

/**
 * Does what the host asks to be changed.
 *
 * @param options.cache  where the host keeps what is to be put
 * @returns              what it wants to hear before it is told that it is done
 */
export async function applyChange(
  writes: SourceWrites | undefined,
  message: FromWriter,
  { cache, signal }: { cache: string; signal: AbortSignal },
): Promise<Uint8Array | undefined> {
  if (writes === undefined) throw callFailure('EROFS');
  switch (message.type) {
    case 'make':
      return pageOf(await make(writes, message, signal));
    case 'remove':
      await writes.remove(message.path, { directory: message.directory, signal });
      return undefined;
    case 'rename':
      await writes.rename(message.from, message.to, { how: message.how, signal });
      return undefined;
    case 'change': {
      const { type: _, request: __, path, ...what } = message;
      return pageOf(await writes.change(path, { ...what, signal }));
    }
    case 'copy':
      return pageOf(await writes.copy(message.from, message.to, { signal }));
    case 'getAttribute':
      return writes.getAttribute(message.path, message.name, { signal });
    case 'setAttribute':
      await writes.setAttribute(message.path, message.name, message.value, { how: message.how, signal });
      return undefined;
    case 'removeAttribute':
      await writes.removeAttribute(message.path, message.name, { signal });
      return undefined;
    case 'listAttributes': {
      const names = await writes.listAttributes(message.path, { signal });
      return Buffer.from(names.map((name) => `${name}\0`).join(''));
    }
    case 'syncDirectory':
      await writes.syncDirectory(message.path, { signal });
      return undefined;
    case 'put': {
      const { type: _, request: __, ...file } = message;
      return pageOf(await writes.put({ ...file, directory: cache, key: file.token }, { signal }));
    }
  }
}

function make(writes: SourceWrites, { entry, path, mode, target }: FromWriter & { type: 'make' }, signal: AbortSignal) {
  if (entry === 'symlink') return writes.makeSymlink(path, { target, signal });
  return entry === 'directory' ? writes.makeDirectory(path, { mode, signal }) : writes.create(path, { mode, signal });
}

/** Of 256 KiB, for entries of a hundred bytes. */
const single = new PageWriter();

/** A page with one entry. */
export function pageOf(entry: SourceEntry): Uint8Array {
  single.tryAdd(manifestEntryOf(entry), 0);
  return single.take();
}

/** As it stands in a manifest. */
export function manifestEntryOf({ type, name, size, mtimeNs, mode, target }: SourceEntry) {
  return { type, parent: TOP, name, size, mtimeNs, mode, ...(target !== undefined && { target }) };
}

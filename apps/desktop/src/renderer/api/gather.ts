// SPDX-License-Identifier: MPL-2.0
import { ApiError, type Gathered, type GatheredItem, type Taken } from '../../shared/api.ts';

/** Where a browser's files are uploaded to (SECURITY, "Drops"). */
export interface DropDoor {
  readonly url: string;
  readonly authorization: string;
}

/** A file, or a folder with nothing in it, with its path below what was dropped; its parts are joined by `/`. */
interface Found {
  readonly path: string;
  readonly file: File | undefined;
}

/** What was dropped on a page, with the folders in it looked through. Reads `data` before it first waits. */
export async function gatherEntries(data: DataTransfer, door: DropDoor): Promise<Gathered> {
  const entries = Array.from(data.items, (item) => (item.kind === 'file' ? item.webkitGetAsEntry() : null));
  const found: Found[] = [];
  for (const entry of entries) if (entry !== null) await walk(entry, '', found);
  return gathered(found, door);
}

/** What was picked: files, or a folder whose files come with their paths. */
export function gatherList(files: FileList, door: DropDoor): Gathered {
  return gathered(
    Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file })),
    door,
  );
}

async function walk(entry: FileSystemEntry, above: string, found: Found[]): Promise<void> {
  const path = above + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  let empty = true;
  for (;;) {
    // A part at a time, a hundred at most.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) break;
    empty = false;
    for (const each of part) await walk(each, `${path}/`, found);
  }
  if (empty) found.push({ path, file: undefined });
}

function gathered(found: readonly Found[], door: DropDoor): Gathered {
  return { items: itemsOf(found), take: (options) => upload(found, door, options) };
}

function itemsOf(found: readonly Found[]): GatheredItem[] {
  const items = new Map<string, { name: string; kind: 'file' | 'folder'; files: number; bytes: number }>();
  for (const { path, file } of found) {
    const [name = '', ...below] = path.split('/');
    const kind = below.length > 0 || file === undefined ? 'folder' : 'file';
    const item = items.get(name) ?? { name, kind, files: 0, bytes: 0 };
    items.set(name, item);
    if (file !== undefined) item.files++;
    item.bytes += file?.size ?? 0;
  }
  return [...items.values()];
}

/** One file after the other: the daemon and the disk are the same for all. */
async function upload(
  found: readonly Found[],
  { url, authorization }: DropDoor,
  { signal, onProgress }: Parameters<Gathered['take']>[0],
): Promise<Taken> {
  const total = found.reduce((sum, { file }) => sum + (file?.size ?? 0), 0);
  const opened = await asked(url, { method: 'POST', headers: { authorization }, signal });
  const { drop } = (await opened.json()) as { drop: string };
  let taken = 0;
  try {
    for (const { path, file } of found) {
      const place = `${url}/${drop}/${path.split('/').map(encodeURIComponent).join('/')}${file === undefined ? '/' : ''}`;
      const modified = file === undefined ? {} : { 'x-modified': String(file.lastModified) };
      const body = file === undefined ? {} : { body: file };
      await asked(place, { method: 'PUT', headers: { authorization, ...modified }, signal, ...body });
      taken += file?.size ?? 0;
      onProgress(taken, total);
    }
    return { drop };
  } catch (reason) {
    void fetch(`${url}/${drop}`, { method: 'DELETE', headers: { authorization } }).catch(() => {});
    throw reason;
  }
}

async function asked(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch((cause) => {
    throw init.signal?.aborted ? new ApiError('CANCELLED', 'Cancelled.') : new ApiError('UNREACHABLE', String(cause));
  });
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: { code: string; message: string } };
  throw new ApiError(error?.code ?? 'INTERNAL', error?.message ?? response.statusText);
}

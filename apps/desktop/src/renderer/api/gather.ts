// SPDX-License-Identifier: MPL-2.0
import type { FoundFile, GatheredItem } from '../../shared/api.ts';

/** All files of a drop, including those in its folders. Reads `data` before its first await. */
export async function entriesOf(data: DataTransfer): Promise<FoundFile[]> {
  // An item dragged out of another page is a file without an entry.
  const dropped = Array.from(data.items, (item) =>
    item.kind === 'file' ? (item.webkitGetAsEntry() ?? item.getAsFile()) : null,
  );
  const found: FoundFile[] = [];
  for (const each of dropped) {
    if (each instanceof File) found.push({ path: each.name, file: each });
    else if (each !== null) await walk(each, '', found);
  }
  return found;
}

async function walk(entry: FileSystemEntry, above: string, found: FoundFile[]): Promise<void> {
  const path = above + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  let empty = true;
  for (;;) {
    // One batch, of at most a hundred entries.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) break;
    empty = false;
    for (const each of part) await walk(each, `${path}/`, found);
  }
  if (empty) found.push({ path, file: undefined });
}

/** The top-level items, in the order they were found. */
export function itemsOf(found: readonly FoundFile[]): GatheredItem[] {
  const items = new Map<string, { kind: 'file' | 'folder'; files: number; bytes: number; found: FoundFile[] }>();
  for (const each of found) {
    const [name = '', ...below] = each.path.split('/');
    const kind = below.length > 0 || each.file === undefined ? 'folder' : 'file';
    const item = items.get(name) ?? { kind, files: 0, bytes: 0, found: [] };
    items.set(name, item);
    if (each.file !== undefined) item.files++;
    item.bytes += each.file?.size ?? 0;
    item.found.push(each);
  }
  return Array.from(items, ([name, { found: below, ...item }]) => ({ name, ...item, source: { found: below } }));
}

/** The files of all items as one drop. Items with a duplicate name are renamed to `NAME (2)` and so on. */
export function joined(items: readonly GatheredItem[]): FoundFile[] {
  const taken = new Set<string>();
  return items.flatMap(({ name, kind, source }) => {
    if ('path' in source) return [];
    const free = freeName(name, kind, taken);
    taken.add(free);
    return source.found.map(({ path, file }) => ({ path: free + path.slice(name.length), file }));
  });
}

function freeName(name: string, kind: 'file' | 'folder', taken: ReadonlySet<string>): string {
  const dot = kind === 'file' ? name.lastIndexOf('.') : -1;
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${stem} (${number})${ending}`;
  return free;
}

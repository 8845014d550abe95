// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import type { FoundFile } from '../../shared/api.ts';
import { entriesOf, itemsOf, joined } from './gather.ts';

function found(path: string, bytes: number): FoundFile {
  return { path, file: new File([new Uint8Array(bytes)], path.split('/').pop() ?? '') };
}

const EMPTY: FoundFile = { path: 'empty', file: undefined };

describe('itemsOf', () => {
  it('returns the top-level items with counts of their contents', () => {
    const items = itemsOf([found('a.txt', 3), found('trip/1.jpg', 10), found('trip/more/2.jpg', 20), EMPTY]);
    expect(items.map(({ name, kind, files, bytes }) => [name, kind, files, bytes])).toEqual([
      ['a.txt', 'file', 1, 3],
      ['trip', 'folder', 2, 30],
      ['empty', 'folder', 0, 0],
    ]);
  });
});

describe('joined', () => {
  it('combines several drops, and numbers duplicate names', () => {
    const items = [
      ...itemsOf([found('a.txt', 1), found('trip/1.jpg', 1)]),
      ...itemsOf([found('a.txt', 2), found('trip/1.jpg', 2), found('.env', 1)]),
      ...itemsOf([found('a.txt', 3), found('.env', 1)]),
    ];
    expect(joined(items).map(({ path }) => path)).toEqual([
      'a.txt',
      'trip/1.jpg',
      'a (2).txt',
      'trip (2)/1.jpg',
      '.env',
      'a (3).txt',
      '.env (2)',
    ]);
  });

  it('skips items that the window has paths for', () => {
    const source = { path: '/home/me/a.txt' };
    expect(joined([{ name: 'a.txt', kind: 'file', files: 1, bytes: 1, source }])).toEqual([]);
  });
});

describe('entriesOf', () => {
  it('walks folders in batches, and keeps empty ones', async () => {
    const data = dropOf([
      fileEntry('a.txt'),
      folderEntry('trip', [[fileEntry('1.jpg'), folderEntry('none', [])], [fileEntry('2.jpg')]]),
    ]);
    const entries = await entriesOf(data);
    expect(entries.map(({ path, file }) => [path, file?.name])).toEqual([
      ['a.txt', 'a.txt'],
      ['trip/1.jpg', '1.jpg'],
      ['trip/none', undefined],
      ['trip/2.jpg', '2.jpg'],
    ]);
  });

  it('accepts a file without an entry', async () => {
    const item = { kind: 'file', webkitGetAsEntry: () => null, getAsFile: () => new File(['x'], 'picture.png') };
    const [found] = await entriesOf({ items: [item] } as unknown as DataTransfer);
    expect(found).toMatchObject({ path: 'picture.png', file: { size: 1 } });
  });
});

/** A drop as browsers hand it out, with shapes of the File and Directory Entries API, which Node lacks. */
function dropOf(entries: FileSystemEntry[]): DataTransfer {
  const items = entries.map((entry) => ({ kind: 'file', webkitGetAsEntry: () => entry }));
  return { items: [...items, { kind: 'string' }] } as unknown as DataTransfer;
}

function fileEntry(name: string): FileSystemEntry {
  const file = (taken: (file: File) => void) => taken(new File(['x'], name));
  return { name, isFile: true, isDirectory: false, file } as unknown as FileSystemEntry;
}

/** @param parts  batches that readEntries returns before the final empty one */
function folderEntry(name: string, parts: FileSystemEntry[][]): FileSystemEntry {
  const createReader = () => {
    const left = [...parts];
    return { readEntries: (taken: (part: FileSystemEntry[]) => void) => taken(left.shift() ?? []) };
  };
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry;
}

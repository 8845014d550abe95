// SPDX-License-Identifier: MPL-2.0

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CachedFile, ShareEntry } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MountSource } from '../src/index.ts';

const BLOCK = 65_536;
const KEY = '0123456789abcdef0123456789abcdef';
const { signal } = new AbortController();

/** The requirements of every source. @param open  opens a folder of this machine through the source */
export function describeSource(name: string, open: (folder: string) => Promise<MountSource>): void {
  describe(name, () => {
    let folder: string;
    let cache: string;
    let source: MountSource;

    beforeEach(async () => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), 'keibi-source-')));
      cache = mkdtempSync(join(tmpdir(), 'keibi-cache-'));
      mkdirSync(join(folder, 'd', 'empty'), { recursive: true });
      writeFileSync(join(folder, 'd', 'file'), content(3 * BLOCK + 5), { mode: 0o640 });
      symlinkSync('file', join(folder, 'd', 'link'));
      writeFileSync(join(folder, 'nothing'), '');
      source = await open(folder);
    });
    afterEach(async () => {
      await source.close();
      for (const place of [folder, cache]) rmSync(place, { recursive: true });
    });

    async function list(path: string): Promise<ShareEntry[]> {
      const all: ShareEntry[] = [];
      for await (const { entries } of source.list(path, { signal })) all.push(...entries);
      return all.sort((one, other) => (one.name < other.name ? -1 : 1));
    }
    async function wanted(path: string): Promise<CachedFile> {
      const { size, mtimeNs } = await source.stat(path, { signal });
      return { path, size, mtimeNs, directory: cache, key: KEY };
    }

    it('lists a directory: names, types, sizes, modes and targets', async () => {
      const seen = (await list('d')).map(({ name, type, size, target }) => [name, type, size, target]);
      expect(seen).toEqual([
        ['empty', 'directory', 0, undefined],
        ['file', 'file', 3 * BLOCK + 5, undefined],
        ['link', 'symlink', 0, 'file'],
      ]);
      expect((await list('')).map(({ name }) => name)).toEqual(['d', 'nothing']);
      expect(await list('d/empty')).toEqual([]);
      expect((await list('d')).find(({ name }) => name === 'file')?.mode).toBe(0o640);
    });

    it('returns one entry, also the folder itself, and follows no symlink', async () => {
      expect(await source.stat('d/file', { signal })).toMatchObject({
        type: 'file',
        name: 'file',
        size: 3 * BLOCK + 5,
      });
      expect(await source.stat('', { signal })).toMatchObject({ type: 'directory', name: source.name });
      expect(await source.stat('d/link', { signal })).toMatchObject({ type: 'symlink', target: 'file' });
    });

    it.each(['none', 'd/none', 'd/file/x'])('says that there is no %s', async (path) => {
      await expect(source.stat(path, { signal })).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND' });
      await expect(list(path)).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND' });
    });

    it.each(['../outside', 'd/../../outside', '/etc/passwd', 'd/link/x'])('reaches nothing by %s', async (path) => {
      await expect(source.stat(path, { signal })).rejects.toMatchObject({ code: expect.stringMatching(/^SHARE_/) });
      await expect(list(path)).rejects.toMatchObject({ code: expect.stringMatching(/^SHARE_/) });
    });

    it('brings the blocks that are wanted into the cache, and those ahead of them', async () => {
      const file = await wanted('d/file');
      const { aheadBlocks } = await source.want(file, { first: 1, count: 1, ahead: 0 }, { signal });
      expect(aheadBlocks).toBeGreaterThan(0);
      const original = readFileSync(join(folder, 'd', 'file'));
      const cached = () => readFileSync(join(cache, `${KEY}.data`));
      expect(cached().length).toBe(original.length);
      expect(
        cached()
          .subarray(BLOCK, 2 * BLOCK)
          .equals(original.subarray(BLOCK, 2 * BLOCK)),
      ).toBe(true);
      expect(cached().subarray(0, BLOCK).equals(Buffer.alloc(BLOCK))).toBe(true);
      await source.want(file, { first: 0, count: 0, ahead: 1 }, { signal });
      await Promise.all([0, 1, 2, 3].map((first) => source.want(file, { first, count: 1, ahead: 2 }, { signal })));
      expect(cached().equals(original)).toBe(true);
      source.release(file);
    });

    it('reports a file of another version, and mixes nothing', async () => {
      const file = await wanted('d/file');
      writeFileSync(join(folder, 'd', 'new'), 'x'.repeat(3 * BLOCK + 5));
      utimesSync(join(folder, 'd', 'new'), 1, 1);
      renameSync(join(folder, 'd', 'new'), join(folder, 'd', 'file'));
      const want = source.want(file, { first: 0, count: 4, ahead: 0 }, { signal });
      await expect(want).rejects.toMatchObject({ code: 'TRANSFER_SOURCE_CHANGED' });
      const gone = { ...file, path: 'd/gone', key: KEY.replaceAll('0', '1') };
      await expect(source.want(gone, { first: 0, count: 1, ahead: 0 }, { signal })).rejects.toMatchObject({
        code: 'SHARE_NOT_FOUND',
      });
    });

    it('reports changes, from the first notice on', async () => {
      const notices = source.watch({ signal })[Symbol.asyncIterator]();
      expect((await notices.next()).value).toMatchObject({ incomplete: false });
      writeFileSync(join(folder, 'd', 'file'), 'other');
      writeFileSync(join(folder, 'new'), '');
      rmSync(join(folder, 'nothing'));
      const seen = new Map<string, string>();
      while (seen.size < 3) {
        const { value } = await notices.next();
        // The notice after the one of its creation may name a new file as changed.
        for (const { path, kind } of value.changes) if (!seen.has(path)) seen.set(path, kind);
      }
      expect(Object.fromEntries(seen)).toEqual({ 'd/file': 'changed', new: 'created', nothing: 'removed' });
      await notices.return?.();
    });

    it('ends its work when its signal aborts', async () => {
      const over = AbortSignal.abort(new Error('over'));
      await expect(source.stat('d', { signal: over })).rejects.toThrow('over');
      await expect(
        source.want(await wanted('d/file'), { first: 0, count: 1, ahead: 0 }, { signal: over }),
      ).rejects.toThrow('over');
      expect(readdirSync(cache)).toEqual([]);
    });
  });
}

function content(bytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, i) => (i * 31) ^ (i >> 8)));
}

// SPDX-License-Identifier: MPL-2.0
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangedFile, MountSource, SourceWrites } from '../src/index.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const TOKEN = 'fedcba9876543210fedcba9876543210';
const { signal } = new AbortController();

/** What every source that can be written has to do. @param open  shows a folder of this machine through the source */
export function describeSourceWrites(name: string, open: (folder: string) => Promise<MountSource>): void {
  describe(name, () => {
    let folder: string;
    let cache: string;
    let source: MountSource;
    let writes: SourceWrites;

    beforeEach(async () => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), 'keibi-written-')));
      cache = mkdtempSync(join(tmpdir(), 'keibi-cache-'));
      mkdirSync(join(folder, 'd'));
      writeFileSync(join(folder, 'd', 'file'), 'content');
      source = await open(folder);
      writes = source.writes as SourceWrites;
    });
    afterEach(async () => {
      await source.close();
      for (const place of [folder, cache]) rmSync(place, { recursive: true });
    });

    /** A draft of these bytes, all of it to be written. */
    async function draftOf(path: string, bytes: string, changed: Partial<ChangedFile> = {}): Promise<ChangedFile> {
      writeFileSync(join(cache, `${KEY}.data`), bytes);
      const { size, mtimeNs } = await source.stat(path, { signal });
      return {
        path,
        size: bytes.length,
        mtimeNs: 1_700_000_000_123_456_789n,
        directory: cache,
        key: KEY,
        base: { size, mtimeNs },
        token: TOKEN,
        keep: 0,
        ranges: [{ offset: 0, length: bytes.length }],
        sync: false,
        ...changed,
      };
    }
    const read = (path: string) => readFileSync(join(folder, path), 'utf8');

    it('makes a file, and makes none where something is', async () => {
      const made = await writes.create('d/new', { mode: 0o640, signal });
      expect(made).toMatchObject({ type: 'file', name: 'new', size: 0, mode: 0o640 });
      expect(statSync(join(folder, 'd', 'new')).size).toBe(0);
      await expect(writes.create('d/file', { mode: 0o640, signal })).rejects.toMatchObject({
        code: 'SHARE_CALL_FAILED',
        detail: { systemError: 'EEXIST' },
      });
    });

    it('writes what was changed of a file, and keeps the rest', async () => {
      const put = await draftOf('d/file', 'CO?????and more', {
        keep: 7,
        ranges: [
          { offset: 0, length: 2 },
          { offset: 7, length: 8 },
        ],
      });
      const now = await writes.put(put, { signal });
      expect(read('d/file')).toBe('COntentand more');
      expect(now).toMatchObject({ size: 15 });
      expect(await source.stat('d/file', { signal })).toMatchObject(now);
    });

    it('refuses a put on another content, and writes nothing of it', async () => {
      const put = await draftOf('d/file', 'ours');
      writeFileSync(join(folder, 'd', 'file'), 'theirs, longer');
      await expect(writes.put(put, { signal })).rejects.toMatchObject({ code: 'TRANSFER_SOURCE_CHANGED' });
      expect(read('d/file')).toBe('theirs, longer');
    });
  });
}

// SPDX-License-Identifier: MPL-2.0
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangedFile, MountSource, SourceWrites } from '../src/index.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const TOKEN = 'fedcba9876543210fedcba9876543210';
const { signal } = new AbortController();

/** The requirements of every writable source. @param open  opens a folder of this machine through the source */
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

    const failed = (systemError: string) => ({ code: 'SHARE_CALL_FAILED', detail: { systemError } });

    it('makes files and directories with their modes, and none where something is', async () => {
      const made = await writes.create('d/new', { mode: 0o666, signal });
      expect(made).toMatchObject({ type: 'file', name: 'new', size: 0, mode: 0o666 });
      expect(statSync(join(folder, 'd', 'new'))).toMatchObject({ size: 0, mode: 0o100666 });
      expect(await writes.makeDirectory('d/e', { mode: 0o777, signal })).toMatchObject({
        type: 'directory',
        name: 'e',
      });
      expect(statSync(join(folder, 'd', 'e')).mode & 0o777).toBe(0o777);
      await expect(writes.create('d/file', { mode: 0o640, signal })).rejects.toMatchObject(failed('EEXIST'));
      await expect(writes.create('d/e', { mode: 0o640, signal })).rejects.toMatchObject(failed('EEXIST'));
      await expect(writes.makeDirectory('d/file', { mode: 0o755, signal })).rejects.toMatchObject(failed('EEXIST'));
      await expect(writes.create('none/x', { mode: 0o640, signal })).rejects.toMatchObject(failed('ENOENT'));
      await expect(writes.create('d/file/x', { mode: 0o640, signal })).rejects.toMatchObject(failed('ENOTDIR'));
      expect(read('d/file')).toBe('content');
    });

    it('reports the new time of a directory after an entry was created or removed', async () => {
      const mtimeNs = () => statSync(join(folder, 'd'), { bigint: true }).mtimeNs;
      const made = await writes.create('d/new', { mode: 0o600, signal });
      expect(made.directoryMtimeNs).toBe(mtimeNs());
      expect((await writes.makeDirectory('d/e', { mode: 0o700, signal })).directoryMtimeNs).toBe(mtimeNs());
      expect((await writes.makeSymlink('d/link', { target: 'x', signal })).directoryMtimeNs).toBe(mtimeNs());
      expect(await writes.remove('d/new', { directory: false, signal })).toEqual({ directoryMtimeNs: mtimeNs() });
    });

    it('lets only one of many create a name', async () => {
      const tries = Array.from({ length: 8 }, () => writes.create('lock', { mode: 0o600, signal }));
      const outcomes = await Promise.allSettled(tries);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('makes a symlink and follows none', async () => {
      const made = await writes.makeSymlink('d/link', { target: '/etc/passwd', signal });
      expect(made).toMatchObject({ type: 'symlink', target: '/etc/passwd' });
      expect(readlinkSync(join(folder, 'd', 'link'))).toBe('/etc/passwd');
      await expect(writes.makeSymlink('d/other', { target: 'a\0b', signal })).rejects.toMatchObject(failed('EINVAL'));
      await expect(writes.makeSymlink('d/other', { target: '', signal })).rejects.toMatchObject({
        code: 'SHARE_CALL_FAILED',
      });
      await writes.change('d/link', { mtimeNs: 1_000_000_001n, signal });
      expect(lstatSync(join(folder, 'd', 'link'), { bigint: true }).mtimeNs).toBe(1_000_000_001n);
      await writes.remove('d/link', { directory: false, signal });
      expect(readdirSync(join(folder, 'd'))).toEqual(['file']);
    });

    it('reaches nothing outside of the folder', async () => {
      const outside = mkdtempSync(join(tmpdir(), 'keibi-outside-'));
      symlinkSync(outside, join(folder, 'out'));
      symlinkSync('d', join(folder, 'in'));
      writeFileSync(join(outside, 'secret'), 'secret');
      const put = await draftOf('d/file', 'x');
      const refused = { code: expect.stringMatching(/^SHARE_/) };
      for (const path of [
        'out/new',
        'in/new',
        '../new',
        'd/../new',
        '/new',
        '.',
        '..',
        '.keibidrop-partial-x',
        'a\0b',
      ]) {
        await expect(writes.create(path, { mode: 0o600, signal }), path).rejects.toMatchObject(refused);
        await expect(writes.makeDirectory(path, { mode: 0o700, signal }), path).rejects.toMatchObject(refused);
        await expect(writes.makeSymlink(path, { target: 'x', signal }), path).rejects.toMatchObject(refused);
        await expect(writes.rename('d/file', path, { how: 'replace', signal }), path).rejects.toMatchObject(refused);
        await expect(writes.copy('d/file', path, { signal }), path).rejects.toMatchObject(refused);
      }
      for (const path of ['out/secret', 'in/file', 'out', `../${outside.slice(1)}/secret`, '', 'nowhere']) {
        await expect(writes.put({ ...put, path, base: undefined }, { signal }), path).rejects.toMatchObject(refused);
        if (path === 'out') continue;
        await expect(writes.change(path, { mode: 0o777, signal }), path).rejects.toMatchObject(refused);
        await expect(writes.remove(path, { directory: false, signal }), path).rejects.toMatchObject(refused);
        await expect(writes.rename(path, 'here', { how: 'replace', signal }), path).rejects.toMatchObject(refused);
        await expect(writes.copy(path, 'here', { signal }), path).rejects.toMatchObject(refused);
      }
      await expect(writes.copy('out', 'here', { signal })).rejects.toMatchObject(refused);
      expect(readdirSync(outside)).toEqual(['secret']);
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
      expect(readdirSync(folder).sort()).toEqual(['d', 'in', 'out']);
      expect(read('d/file')).toBe('content');
      rmSync(outside, { recursive: true });
    });

    it('removes files and empty directories, each by its own call', async () => {
      await expect(writes.remove('d', { directory: true, signal })).rejects.toMatchObject(failed('ENOTEMPTY'));
      await expect(writes.remove('d', { directory: false, signal })).rejects.toMatchObject(failed('EISDIR'));
      await expect(writes.remove('d/file', { directory: true, signal })).rejects.toMatchObject(failed('ENOTDIR'));
      await expect(writes.remove('d/none', { directory: false, signal })).rejects.toMatchObject(failed('ENOENT'));
      await writes.remove('d/file', { directory: false, signal });
      await writes.remove('d', { directory: true, signal });
      expect(readdirSync(folder)).toEqual([]);
    });

    it('renames over an entry, only to a free name, or exchanges', async () => {
      writeFileSync(join(folder, 'other'), 'other');
      await expect(writes.rename('other', 'd/file', { how: 'keep', signal })).rejects.toMatchObject(failed('EEXIST'));
      await writes.rename('other', 'd/file', { how: 'exchange', signal });
      expect([read('other'), read('d/file')]).toEqual(['content', 'other']);
      await expect(writes.rename('other', 'none', { how: 'exchange', signal })).rejects.toMatchObject(failed('ENOENT'));
      await writes.rename('other', 'd/file', { how: 'replace', signal });
      expect(read('d/file')).toBe('content');
      await writes.rename('d/file', 'moved', { how: 'keep', signal });
      expect(readdirSync(folder).sort()).toEqual(['d', 'moved']);
      await expect(writes.rename('d', 'd/e', { how: 'replace', signal })).rejects.toMatchObject(failed('EINVAL'));
      await expect(writes.rename('moved', 'd', { how: 'replace', signal })).rejects.toMatchObject(failed('EISDIR'));
    });

    it('changes modes and times to the nanosecond', async () => {
      const now = await writes.change('d/file', { mode: 0o604, mtimeNs: 1_234_567_890_123_456_789n, signal });
      expect(now).toMatchObject({ mode: 0o604, mtimeNs: 1_234_567_890_123_456_789n, size: 7 });
      expect(await source.stat('d/file', { signal })).toEqual(now);
      expect(await writes.change('d/file', { mode: 0o640, signal })).toMatchObject({ mtimeNs: now.mtimeNs });
      expect(await writes.change('d', { mtimeNs: -1n, signal })).toMatchObject({ type: 'directory', mtimeNs: -1n });
    });

    it('copies a file under a name that is free, with its holes', async () => {
      truncateSync(join(folder, 'd', 'file'), 2 ** 24);
      const { mtimeNs } = await writes.change('d/file', { mode: 0o444, mtimeNs: 5_000_000_005n, signal });
      const copy = await writes.copy('d/file', 'copy', { signal });
      expect(copy).toMatchObject({ name: 'copy', size: 2 ** 24, mode: 0o444, mtimeNs });
      expect(read('copy')).toBe(read('d/file'));
      expect(statSync(join(folder, 'copy')).blocks).toBeLessThan(64);
      await expect(writes.copy('d/file', 'copy', { signal })).rejects.toMatchObject(failed('EEXIST'));
      await expect(writes.copy('d', 'other', { signal })).rejects.toMatchObject(failed('EISDIR'));
      expect(existsSync(join(folder, 'other'))).toBe(false);
    });

    it('keeps extended attributes, those of people alone', async () => {
      await writes.setAttribute('d/file', 'user.colour', Buffer.from('red'), { how: 'any', signal });
      await writes.setAttribute('d', 'user.empty', new Uint8Array(), { how: 'new', signal });
      expect(Buffer.from(await writes.getAttribute('d/file', 'user.colour', { signal })).toString()).toBe('red');
      expect(await writes.listAttributes('d/file', { signal })).toEqual(['user.colour']);
      expect((await writes.getAttribute('d', 'user.empty', { signal })).length).toBe(0);
      const again = writes.setAttribute('d/file', 'user.colour', new Uint8Array(1), { how: 'new', signal });
      await expect(again).rejects.toMatchObject(failed('EEXIST'));
      const missing = writes.setAttribute('d/file', 'user.none', new Uint8Array(1), { how: 'old', signal });
      await expect(missing).rejects.toMatchObject(failed('ENODATA'));
      await writes.removeAttribute('d/file', 'user.colour', { signal });
      await expect(writes.getAttribute('d/file', 'user.colour', { signal })).rejects.toMatchObject(failed('ENODATA'));
      for (const name of ['security.selinux', 'trusted.x', 'system.posix_acl_access', 'user.', '']) {
        const set = writes.setAttribute('d/file', name, Buffer.from('x'), { how: 'any', signal });
        await expect(set, name).rejects.toMatchObject(failed('ENOTSUP'));
        await expect(writes.getAttribute('d/file', name, { signal }), name).rejects.toMatchObject(failed('ENOTSUP'));
      }
      symlinkSync('file', join(folder, 'd', 'link'));
      expect(await writes.listAttributes('d/link', { signal })).toEqual([]);
      const followed = writes.setAttribute('d/link', 'user.x', Buffer.from('x'), { how: 'any', signal });
      await expect(followed).rejects.toMatchObject(failed('EPERM'));
    });

    it('syncs directories', async () => {
      await writes.syncDirectory('d', { signal });
      await writes.syncDirectory('', { signal });
      await expect(writes.syncDirectory('d/file', { signal })).rejects.toMatchObject(failed('ENOTDIR'));
    });

    it('writes the changed ranges of a file, and keeps the rest', async () => {
      const put = await draftOf('d/file', 'CO?????and more', {
        keep: 7,
        ranges: [
          { offset: 0, length: 2 },
          { offset: 7, length: 8 },
        ],
      });
      const now = await writes.put(put, { signal });
      expect(read('d/file')).toBe('COntentand more');
      expect(now).toMatchObject({ name: 'file', size: 15, mtimeNs: put.mtimeNs });
      expect(await source.stat('d/file', { signal })).toEqual(now);
    });

    it('cuts a file to what still holds, and leaves zeros behind it', async () => {
      const put = await draftOf('d/file', '', { size: 12, keep: 3, ranges: [], sync: true });
      await writes.put(put, { signal });
      expect(read('d/file')).toBe(`con${'\0'.repeat(9)}`);
      await writes.put({ ...put, base: undefined, size: 2, keep: 2 }, { signal });
      expect(read('d/file')).toBe('co');
    });

    it('writes long files, with holes where nothing was written', async () => {
      const bytes = Buffer.alloc(5 * 2 ** 20 + 3, 'abcdefghijk');
      const put = await draftOf('d/file', '');
      writeFileSync(join(cache, `${KEY}.data`), bytes);
      const size = 2 ** 33;
      truncateSync(join(cache, `${KEY}.data`), size);
      const ranges = [
        { offset: 1, length: 3 * 2 ** 20 },
        { offset: 4 * 2 ** 20, length: 2 ** 20 + 3 },
        { offset: size - 5, length: 5 },
      ];
      expect(await writes.put({ ...put, size, ranges }, { signal })).toMatchObject({ size });
      expect(statSync(join(folder, 'd', 'file')).blocks).toBeLessThan(2 ** 15);
      truncateSync(join(folder, 'd', 'file'), bytes.length);
      const expected = Buffer.from(bytes);
      expected.fill(0, 0, 1).fill(0, 1 + 3 * 2 ** 20, 4 * 2 ** 20);
      expect(readFileSync(join(folder, 'd', 'file')).equals(expected)).toBe(true);
    });

    it('refuses a put on another content, and writes nothing of it', async () => {
      const put = await draftOf('d/file', 'ours');
      writeFileSync(join(folder, 'd', 'file'), 'theirs, longer');
      await expect(writes.put(put, { signal })).rejects.toMatchObject({ code: 'TRANSFER_SOURCE_CHANGED' });
      expect(read('d/file')).toBe('theirs, longer');
      rmSync(join(folder, 'd', 'file'));
      await expect(writes.put(put, { signal })).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND' });
      expect(existsSync(join(folder, 'd', 'file'))).toBe(false);
    });

    it('continues only from what puts of the same draft have left', async () => {
      const put = await draftOf('d/file', 'one');
      await writes.put(put, { signal });
      const other = { ...put, token: TOKEN.replaceAll('f', '0') };
      await expect(writes.put(other, { signal })).rejects.toMatchObject({ code: 'TRANSFER_SOURCE_CHANGED' });
      writeFileSync(join(cache, `${KEY}.data`), 'two');
      await writes.put(put, { signal });
      expect(read('d/file')).toBe('two');
    });

    it('writes a file that has become read-only meanwhile', async () => {
      await writes.create('object', { mode: 0o444, signal });
      chmodSync(join(folder, 'd', 'file'), 0o000);
      await writes.put(await draftOf('object', 'packed'), { signal });
      await writes.put(await draftOf('d/file', 'shut'), { signal });
      expect(read('object')).toBe('packed');
      expect(statSync(join(folder, 'object')).mode & 0o777).toBe(0o444);
      expect(statSync(join(folder, 'd', 'file')).mode & 0o777).toBe(0);
    });

    it('lets one draft write at a time, each whole', async () => {
      const put = await draftOf('d/file', 'x'.repeat(300_000), { base: undefined });
      const tokens = ['0', '1', '2', '3'].map((digit) => digit.repeat(32));
      const puts = await Promise.allSettled(tokens.map((token) => writes.put({ ...put, token }, { signal })));
      expect(puts.some(({ status }) => status === 'fulfilled')).toBe(true);
      expect(read('d/file')).toBe('x'.repeat(300_000));
    });

    it.skipIf(process.getuid?.() !== 0)(
      'says that a disk is full, and that another file system is another',
      async () => {
        const disk = join(folder, 'disk');
        mkdirSync(disk);
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]);
        try {
          await writes.create('disk/file', { mode: 0o600, signal });
          const free = () => statfsSync(disk).bfree;
          const before = free();
          const put = await draftOf('disk/file', 'x'.repeat(2 ** 20));
          await expect(writes.put(put, { signal })).rejects.toMatchObject(failed('ENOSPC'));
          await expect.poll(free, { message: 'the staged bytes are freed' }).toBe(before);
          expect(read('disk/file'), 'nothing of it before it is committed').toBe('');
          expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(2 ** 20))).toThrow('ENOSPC');
          await expect(writes.copy('d/file', 'disk/copy', { signal })).rejects.toMatchObject(failed('ENOSPC'));
          expect(readdirSync(disk).sort()).toEqual(['file', 'filler']);
          rmSync(join(disk, 'filler'));
          await expect(writes.rename('d/file', 'disk/x', { how: 'replace', signal })).rejects.toMatchObject(
            failed('EXDEV'),
          );
          // The same draft succeeds once it is small enough.
          writeFileSync(join(cache, `${KEY}.data`), 'less');
          await writes.put({ ...put, size: 4, ranges: [{ offset: 0, length: 4 }] }, { signal });
          expect(read('disk/file')).toBe('less');
        } finally {
          execFileSync('umount', [disk]);
        }
      },
    );

    it('ends its work when its signal aborts', async () => {
      const over = AbortSignal.abort(new Error('over'));
      await expect(writes.create('new', { mode: 0o600, signal: over })).rejects.toThrow('over');
      await expect(writes.put(await draftOf('d/file', 'x'), { signal: over })).rejects.toThrow('over');
      expect(readdirSync(folder)).toEqual(['d']);
      expect(read('d/file')).toBe('content');
    });
  });
}

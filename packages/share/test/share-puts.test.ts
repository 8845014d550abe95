// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { chmodSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import type { ChangedFile, SourceWrites } from '@keibidrop/mount';
import { MakeKind, RenameHow } from '@keibidrop/proto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unary } from '../src/guest/guest-session.ts';
import type { ShareGuest } from '../src/guest/share-guest.ts';
import { CuttableWay } from './cuttable-way.ts';
import { ShareRoom } from './share-room.ts';

const KEY = '0123456789abcdef0123456789abcdef';

let room: ShareRoom;
beforeEach(async () => {
  room = await ShareRoom.open();
  setMaxListeners(0, room.signal);
  await mkdir(room.path('folder'));
  await mkdir(room.path('drafts'));
});
afterEach(() => room.close());

/** A draft with these bytes, based on the file's current version. */
async function draftOf(guest: ShareGuest, path: string, content: Buffer, token = KEY): Promise<ChangedFile> {
  await writeFile(room.path('drafts', `${KEY}.data`), content);
  const { size, mtimeNs } = await guest.stat(path, room);
  return {
    path,
    size: content.length,
    mtimeNs: 1_700_000_000_000_000_001n,
    directory: room.path('drafts'),
    key: KEY,
    base: { size, mtimeNs },
    token,
    keep: 0,
    ranges: [{ offset: 0, length: content.length }],
    sync: false,
  };
}

const inShare = (path: string) => readFile(room.path('folder', path));
const writesOf = (guest: ShareGuest) => guest.writes() as SourceWrites;

/** A share, and a path to it that can be cut. */
async function shared(): Promise<{ way: CuttableWay; guest: ShareGuest; states: string[] }> {
  await room.share('folder');
  const { host, port } = await room.until('waiting');
  const way = await CuttableWay.to({ host, port });
  const states: string[] = [];
  const connect = { host: '127.0.0.1', port: way.port };
  const guest = await room.connect({ connect, patienceMs: 30_000, onEvent: ({ type }) => states.push(type) });
  return { way, guest, states };
}

describe('writing into a share', () => {
  it('resumes begun writes in another session when one is lost', async () => {
    const content = randomBytes(96 * 2 ** 20);
    await writeFile(room.path('folder', 'file'), 'before');
    const { way, guest, states } = await shared();
    const put = await draftOf(guest, 'file', content);
    const done = writesOf(guest).put(put, room);
    await vi.waitUntil(() => way.carried > 2 ** 20, { interval: 1, timeout: 30_000 });
    way.cut();
    const impatient = writesOf(guest).put({ ...put, path: 'file' }, { signal: AbortSignal.timeout(50) });
    await expect(impatient).rejects.toMatchObject({ name: 'TimeoutError' });
    way.mend();
    expect(await done).toMatchObject({ size: content.length, mtimeNs: put.mtimeNs });
    expect((await inShare('file')).equals(content)).toBe(true);
    expect(states.filter((state) => state === 'connected').length).toBeGreaterThan(1);
    await guest.close();
    await way.close();
  });

  it('continues over other lanes when one is cut, in the same session', async () => {
    vi.stubEnv('KD_LANES', '2');
    const content = randomBytes(96 * 2 ** 20);
    await writeFile(room.path('folder', 'file'), '');
    const { way, guest, states } = await shared();
    const done = writesOf(guest).put(await draftOf(guest, 'file', content), room);
    await vi.waitUntil(() => way.carried > 2 ** 20, { interval: 1, timeout: 30_000 });
    way.cutNewest();
    await done;
    expect((await inShare('file')).equals(content)).toBe(true);
    expect(states).toEqual(['connected']);
    await guest.close();
    await way.close();
  });

  it('continues when the session rekeys meanwhile', async () => {
    vi.stubEnv('KD_REKEY_BYTES', String(2 ** 20));
    await writeFile(room.path('folder', 'file'), '');
    await room.share('folder');
    const guest = await room.connect();
    const content = randomBytes(4 * 2 ** 20);
    const put = await draftOf(guest, 'file', content);
    const until = performance.now() + 2500;
    for (let base = put.base; performance.now() < until; ) {
      base = await writesOf(guest).put({ ...put, base }, room);
    }
    expect((await inShare('file')).equals(content)).toBe(true);
  });

  it('detects a file that another peer has changed meanwhile, and leaves it', async () => {
    await writeFile(room.path('folder', 'file'), 'before');
    const { way, guest } = await shared();
    const put = await draftOf(guest, 'file', Buffer.from('ours'));
    await writesOf(guest).put(put, room);
    way.cut();
    const late = writesOf(guest).put(put, room);
    await utimes(room.path('folder', 'file'), 1, 1);
    way.mend();
    await expect(late).rejects.toMatchObject({ code: 'TRANSFER_SOURCE_CHANGED' });
    expect((await inShare('file')).toString()).toBe('ours');
    await guest.close();
    await way.close();
  });

  it('creates a name once, even if the answer is lost with the session', async () => {
    const { way, guest } = await shared();
    const names = Array.from({ length: 40 }, (_, i) => `name-${i}`);
    const made = names.map((name) => writesOf(guest).create(name, { mode: 0o600, signal: room.signal }));
    await vi.waitUntil(async () => (await readdir(room.path('folder'))).length > 0, { interval: 0 });
    way.cut();
    way.mend();
    await Promise.all(made);
    expect((await readdir(room.path('folder'))).sort()).toEqual(names.sort());
    await guest.close();
    await way.close();
  });

  it('leaves no file locked when its signal comes while opening it', async () => {
    await writeFile(room.path('folder', 'file'), '');
    const { way, guest } = await shared();
    const put = await draftOf(guest, 'file', Buffer.from('ours'));
    const own = () => ({ ...put, base: undefined, token: randomBytes(16).toString('hex') });
    for (let i = 0; i < 20; i++) {
      const abort = new AbortController();
      const given = writesOf(guest).put(own(), abort);
      setTimeout(() => abort.abort(new Error('enough')), i / 4);
      await given.catch(() => {});
      await writesOf(guest).put(own(), { signal: AbortSignal.timeout(2000) });
    }
    await guest.close();
    await way.close();
  });

  it('ends a put with its signal, and writes nothing of it after the next has begun', async () => {
    await writeFile(room.path('folder', 'file'), '');
    const { way, guest } = await shared();
    const long = await draftOf(guest, 'file', randomBytes(64 * 2 ** 20));
    const abort = new AbortController();
    const given = writesOf(guest).put(long, abort);
    await vi.waitUntil(() => way.carried > 2 ** 20, { interval: 1, timeout: 30_000 });
    expect((await inShare('file')).length, 'nothing of it before it is committed').toBe(0);
    abort.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    const next = await draftOf(guest, 'file', Buffer.from('next'));
    await writesOf(guest).put({ ...next, base: long.base }, room);
    expect((await inShare('file')).toString()).toBe('next');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await inShare('file')).toString()).toBe('next');
    await guest.close();
    await way.close();
  });

  it('writes many files at the same time', async () => {
    await room.share('folder');
    const guest = await room.connect();
    const writes = writesOf(guest);
    const content = randomBytes(4096);
    await writeFile(room.path('drafts', `${KEY}.data`), content);
    const names = Array.from({ length: 300 }, (_, i) => `file-${i}`);
    await Promise.all(
      names.map(async (name, i) => {
        const base = await writes.create(name, { mode: 0o600, signal: room.signal });
        const put = { path: name, directory: room.path('drafts'), key: KEY, base, keep: 0, sync: i % 7 === 0 };
        const token = i.toString(16).padStart(32, '0');
        const ranges = [{ offset: 0, length: content.length }];
        await writes.put({ ...put, token, size: content.length, mtimeNs: BigInt(i), ranges }, room);
      }),
    );
    for (const name of names) expect((await inShare(name)).equals(content)).toBe(true);
    expect((await stat(room.path('folder', 'file-299'), { bigint: true })).mtimeNs).toBe(299n);
  });

  it('reaches only the one file that is shared', async () => {
    await writeFile(room.path('folder', 'file'), 'before');
    await writeFile(room.path('folder', 'beside'), 'beside');
    await room.share('folder/file');
    const guest = await room.connect();
    const writes = writesOf(guest);
    const put = await draftOf(guest, 'file', Buffer.from('after'));
    await writes.put(put, room);
    expect((await inShare('file')).toString()).toBe('after');
    await expect(writes.put({ ...put, path: 'beside', base: undefined }, room)).rejects.toMatchObject({
      code: 'SHARE_NOT_FOUND',
    });
    const { signal } = room;
    const refused = { code: 'SHARE_CALL_FAILED' };
    await expect(writes.create('new', { mode: 0o600, signal })).rejects.toMatchObject(refused);
    await expect(writes.remove('file', { directory: false, signal })).rejects.toMatchObject(refused);
    await expect(writes.rename('beside', 'file', { how: 'replace', signal })).rejects.toMatchObject(refused);
    await expect(writes.change('beside', { mode: 0o777, signal })).rejects.toMatchObject(refused);
    await expect(writes.getAttribute('beside', 'user.x', { signal })).rejects.toMatchObject(refused);
    await expect(writes.copy('file', 'copy', { signal })).rejects.toMatchObject(refused);
    expect((await readdir(room.path('folder'))).sort()).toEqual(['beside', 'file']);
    expect((await inShare('beside')).toString()).toBe('beside');
  });
});

describe('a read-only share', () => {
  it('says so, and refuses each call of every guest', async () => {
    await writeFile(room.path('folder', 'file'), 'content');
    chmodSync(room.path('folder', 'file'), 0o640);
    await room.share('folder', { readOnly: true });
    const guest = await room.connect();
    expect(guest.info).toMatchObject({ readOnly: true, writes: false });
    expect(guest.writes()).toBeUndefined();
    const { client } = await room.hostileGuest();
    const call = randomBytes(16);
    const path = 'file';
    const made = { call, path: 'new', mode: 0o600, target: 'x' };
    const calls: Parameters<typeof unary>[0][] = [
      (done) => client.make({ ...made, kind: MakeKind.FILE }, done),
      (done) => client.make({ ...made, kind: MakeKind.DIRECTORY }, done),
      (done) => client.make({ ...made, kind: MakeKind.SYMLINK }, done),
      (done) => client.remove({ call, path, directory: false }, done),
      (done) => client.rename({ call, from: path, to: 'new', how: RenameHow.REPLACE }, done),
      (done) => client.change({ call, path, mode: 0o777, mtime: { seconds: 1, nanoseconds: 0 } }, done),
      (done) => client.copy({ call, from: path, to: 'new' }, done),
      (done) => client.setAttribute({ call, path, name: 'user.x', value: call, how: 1 }, done),
      (done) => client.setAttribute({ call, path, name: 'user.x', value: call, how: 4 }, done),
      (done) => client.getAttribute({ path, name: 'user.x' }, done),
      (done) => client.listAttributes({ path }, done),
      (done) => client.syncDirectory({ path: '' }, done),
      (done) => client.openWrite({ path, token: call, keep: 0, base: undefined }, done),
      (done) => client.commit({ handle: 1, size: 0, mtime: { seconds: 1, nanoseconds: 0 }, sync: false }, done),
      (done) => client.closeWrite({ handle: 1 }, done),
    ];
    const before = await stat(room.path('folder', 'file'), { bigint: true });
    for (const each of calls) {
      await expect(unary(each, room)).rejects.toMatchObject({ details: 'SHARE_CALL_FAILED:EROFS' });
    }
    expect(await stat(room.path('folder', 'file'), { bigint: true })).toMatchObject({
      ctimeNs: before.ctimeNs,
      mtimeNs: before.mtimeNs,
    });
    expect(await readdir(room.path('folder'))).toEqual(['file']);
  });
});

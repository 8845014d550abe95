// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IS_ROOT, Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from './own-daemon.ts';
import { type Asked, PageServer } from './page-server.ts';

let sandbox: Sandbox;
let daemon: OwnDaemon;
let server: PageServer;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  daemon = await OwnDaemon.start(sandbox, 'me');
  server = await PageServer.of(daemon);
});
afterAll(() => sandbox.close());

const drops = (...path: string[]) => sandbox.path('me', 'state', 'drops', ...path);
const left = (): Promise<string[]> => readdir(drops()).catch(() => []);

/** An upload whose first bytes are on their way. */
async function begun(drop: string, path: string, bytes: number, at = drops(drop)) {
  const { hostname: host, port } = server.url;
  const headers = { authorization: `Bearer ${server.token}`, 'content-length': String(bytes) };
  const upload = request({ host, port, method: 'PUT', path: `/drop/${drop}/${path}`, headers });
  upload.on('error', () => {});
  upload.write('begun');
  // The entry appears once the daemon has got the request.
  await expect.poll(async () => (await readdir(at)).includes(path), { interval: 5 }).toBe(true);
  return upload;
}

describe('files dropped in a browser', () => {
  it('are assembled, sent with their folders and times, and removed from the disk after the send', async () => {
    const drop = await server.drop();
    const modified = Date.UTC(2020, 1, 2, 3, 4, 5);
    expect(await server.put(drop, 'tree/ä b/%2e#?.txt', 'deep', { 'x-modified': String(modified) })).toMatchObject({
      status: 200,
    });
    expect(await server.put(drop, 'tree/empty/', '')).toMatchObject({ status: 200 });
    expect(await server.put(drop, 'none', '')).toMatchObject({ status: 200 });
    expect((await stat(drops())).mode & 0o777).toBe(0o700);
    expect((await stat(drops(drop))).mode & 0o777).toBe(0o700);
    expect((await stat(drops(drop, 'none'))).mode & 0o777).toBe(0o600);

    const { id, code } = await daemon.send({ drop });
    expect(await daemon.state(id, 'waiting')).toMatchObject({ what: 'tree, none', retriable: false });
    const receiver = await sandbox.start(['receive', code, '--yes', '--json', '--out', 'out']);
    expect(await receiver.ended).toBe(0);
    await daemon.state(id, 'done');
    expect(await readFile(sandbox.path('out', 'tree', 'ä b', '%2e#?.txt'), 'utf8')).toBe('deep');
    expect((await stat(sandbox.path('out', 'tree', 'ä b', '%2e#?.txt'))).mtimeMs).toBe(modified);
    expect(await readdir(sandbox.path('out', 'tree', 'empty'))).toEqual([]);
    expect((await stat(sandbox.path('out', 'none'))).size).toBe(0);
    await expect.poll(left).toEqual([]);
    await expect(daemon.control(id, 'retry')).rejects.toMatchObject({ code: 'DROP_UNKNOWN' });
  });

  it('of a send that failed, or that the end of the daemon stopped, stay until the send is removed from the list', async () => {
    const [failing, waiting, never] = [await server.drop(), await server.drop(), await server.drop()];
    for (const drop of [failing, waiting, never]) await server.put(drop, 'file');
    const failed = await daemon.send({ drop: failing, code: '1-guitar-pencil' });
    for (let guess = 0; guess < 3; guess++) {
      const guesser = await sandbox.start(['receive', '1-wrong-wrong', '--yes', '--json']);
      await guesser.ended;
    }
    expect(await daemon.state(failed.id, 'failed')).toMatchObject({ retriable: true, guessesLeft: 0 });
    const kept = await daemon.send({ drop: waiting });
    expect((await left()).sort()).toEqual([failing, waiting, never].sort());
    await daemon.control(failed.id, 'remove');
    await expect.poll(async () => (await left()).includes(failing)).toBe(false);

    await daemon.replace();
    server = await PageServer.of(daemon);
    expect(await daemon.state(kept.id, 'waiting')).toMatchObject({ what: 'file' });
    expect(await left()).toEqual([waiting]);
    await daemon.control(kept.id, 'cancel');
    await expect.poll(left).toEqual([]);
  });

  it('belong to one send only, once all of them have arrived', async () => {
    const drop = await server.drop();
    expect(await server.json({ path: '/api/Send', body: JSON.stringify({ drop }) })).toMatchObject({
      reply: { code: 'USAGE' },
    });
    await server.put(drop, 'file');
    const upload = await begun(drop, 'more', 1000);
    expect(await server.json({ path: '/api/Send', body: JSON.stringify({ drop }) })).toMatchObject({
      reply: { code: 'USAGE' },
    });
    upload.destroy();
    await expect.poll(() => readdir(drops(drop))).toEqual(['file']);
    // A refused request removes nothing, also while the ended upload still counts.
    const odd = { path: '/api/Send', body: JSON.stringify({ drop, code: 'no code' }) };
    await expect.poll(() => server.json(odd)).toMatchObject({ reply: { code: 'CODE_MALFORMED' } });
    const { id } = await daemon.send({ drop });
    await expect(daemon.send({ drop })).rejects.toMatchObject({ code: 'DROP_UNKNOWN' });
    expect(await server.put(drop, 'late')).toMatchObject({ reply: { code: 'DROP_UNKNOWN' } });
    await daemon.control(id, 'cancel');
    await expect.poll(left).toEqual([]);
  });

  it('are discarded by their page, even during an upload', async () => {
    const drop = await server.drop();
    await server.put(drop, 'folder/file');
    const upload = await begun(drop, 'half', 1000);
    const closed = new Promise((resolve) => upload.once('close', resolve));
    expect(await server.json({ method: 'DELETE', path: `/drop/${drop}`, body: '' })).toMatchObject({ status: 200 });
    await closed;
    expect(await left()).toEqual([]);
    expect(await server.json({ method: 'DELETE', path: `/drop/${drop}` })).toMatchObject({ status: 200 });
    expect(await server.put(drop, 'file')).toMatchObject({ status: 422, reply: { code: 'DROP_UNKNOWN' } });
  });

  it('leave nothing of an upload that is aborted, too short, or repeated', async () => {
    const drop = await server.drop();
    (await begun(drop, 'half', 1000)).destroy();
    await expect.poll(() => readdir(drops(drop))).toEqual([]);
    // Two concurrent uploads: one completes.
    const first = await begun(drop, 'same', 10);
    expect(await server.put(drop, 'same', 'other')).toMatchObject({ reply: { code: 'USAGE' } });
    first.end('whole');
    await once(first, 'response');
    expect(await readFile(drops(drop, 'same'), 'utf8')).toBe('begunwhole');
    const [one, other] = await Promise.all([server.put(drop, 'both/one'), server.put(drop, 'both/other')]);
    expect([one.status, other.status]).toEqual([200, 200]);
    await server.json({ method: 'DELETE', path: `/drop/${drop}` });
  });
});

describe('a drop refuses', () => {
  const long = 'x'.repeat(256);
  it.each<[string, string, string]>([
    ['a path that leads out of it', '../escaped', 'TRANSFER_PATH_REFUSED'],
    ['a path that leads out of it from a folder', 'folder/../../escaped', 'TRANSFER_PATH_REFUSED'],
    ['the same, encoded', '%2e%2e/escaped', 'TRANSFER_PATH_REFUSED'],
    ['an absolute path', '/etc/escaped', 'TRANSFER_PATH_REFUSED'],
    ['a slash in a name', 'folder%2F..%2Fescaped', 'TRANSFER_PATH_REFUSED'],
    ['a NUL', 'file%00.txt', 'TRANSFER_PATH_REFUSED'],
    ['itself', '.', 'TRANSFER_PATH_REFUSED'],
    ['half an escape', '%zz', 'TRANSFER_PATH_REFUSED'],
    ['a name that is not UTF-8', '%ff', 'TRANSFER_PATH_REFUSED'],
    ['a reserved name', '.keibidrop-partial', 'TRANSFER_PATH_REFUSED'],
    ['a name that is too long', long, 'TRANSFER_LIMIT_EXCEEDED'],
    ['a path that is too deep', 'a/'.repeat(5000), 'TRANSFER_LIMIT_EXCEEDED'],
  ])('%s', async (_what, path, code) => {
    const drop = await server.drop();
    const asked = { method: 'PUT', path: `/drop/${drop}/${path}`, body: 'content', headers: { 'content-length': '7' } };
    expect(await server.json(asked)).toMatchObject({ status: 422, reply: { code } });
    expect(await readdir(drops(drop))).toEqual([]);
    await server.json({ method: 'DELETE', path: `/drop/${drop}` });
  });

  it.each<[string, Asked, number, string]>([
    ['a request without the token', { headers: { authorization: '' } }, 403, 'DAEMON_REFUSED'],
    ['another token', { headers: { authorization: `Bearer ${'A'.repeat(43)}` } }, 403, 'DAEMON_REFUSED'],
    ['a page of another origin', { headers: { origin: 'http://evil.example' } }, 403, 'DAEMON_REFUSED'],
    ['another host', { headers: { host: 'localhost' } }, 403, 'DAEMON_REFUSED'],
    ['an invalid id', { method: 'PUT', path: '/drop/../../etc/passwd' }, 422, 'DROP_UNKNOWN'],
    ['an unknown id', { method: 'PUT', path: `/drop/${'0'.repeat(32)}/file` }, 422, 'DROP_UNKNOWN'],
    ['to be read', { method: 'GET', path: '/drop/' }, 422, 'DROP_UNKNOWN'],
    ['a size beyond the free space', { body: `{"bytes":${2 ** 50}}` }, 422, 'TRANSFER_DISK_FULL'],
    ['an invalid size', { body: '{"bytes":-1}' }, 400, 'USAGE'],
  ])('%s', async (_what, asked, status, code) => {
    expect(await server.json({ path: '/drop', ...asked })).toMatchObject({ status, reply: { code } });
  });

  it('an upload without a length, longer than its length, or with an invalid time', async () => {
    const drop = await server.drop();
    const path = `/drop/${drop}/file`;
    const chunked = { method: 'PUT', path, headers: { 'transfer-encoding': 'chunked' } };
    expect(await server.json(chunked)).toMatchObject({ status: 400, reply: { code: 'USAGE' } });
    expect(await server.put(drop, 'file', 'x', { 'x-modified': '1e99' })).toMatchObject({ reply: { code: 'USAGE' } });
    expect(await readdir(drops(drop))).toEqual([]);
    await server.json({ method: 'DELETE', path: `/drop/${drop}` });
  });

  it('to follow a symlink inside it', async () => {
    const drop = await server.drop();
    await mkdir(sandbox.path('outside'));
    await writeFile(sandbox.path('outside', 'kept'), 'kept');
    await symlink(sandbox.path('outside'), drops(drop, 'link'));
    await symlink(sandbox.path('outside', 'kept'), drops(drop, 'kept'));
    await symlink(sandbox.path('outside', 'new'), drops(drop, 'new'));
    expect(await server.put(drop, 'link/escaped')).toMatchObject({ reply: { code: 'TRANSFER_PATH_REFUSED' } });
    expect(await server.put(drop, 'link/', '')).toMatchObject({ reply: { code: 'TRANSFER_PATH_REFUSED' } });
    for (const name of ['kept', 'new']) {
      expect(await server.put(drop, name, 'overwritten')).toMatchObject({ reply: { code: 'USAGE' } });
    }
    // A symlink in place of the drop is not followed, either.
    await rename(drops(drop), drops('moved'));
    await symlink(sandbox.path('outside'), drops(drop));
    expect(await server.put(drop, 'escaped')).toMatchObject({ reply: { code: 'TRANSFER_PATH_REFUSED' } });
    expect(await readdir(sandbox.path('outside'))).toEqual(['kept']);
    expect(await readFile(sandbox.path('outside', 'kept'), 'utf8')).toBe('kept');
    await server.json({ method: 'DELETE', path: `/drop/${drop}` });
    expect(await readdir(sandbox.path('outside'))).toEqual(['kept']);
    await rm(drops('moved'), { recursive: true });
  });

  it.runIf(IS_ROOT)('uploads that exceed the free space, by announced and by actual size', async () => {
    await mkdir(sandbox.path('small', 'state'), { recursive: true });
    const at = await sandbox.mountTmpfs('small/state/drops', 40 * 2 ** 20);
    server = await PageServer.of(await OwnDaemon.start(sandbox, 'small'));
    const drop = await server.drop();
    const full = { status: 422, reply: { code: 'TRANSFER_DISK_FULL' } };
    expect(await server.put(drop, 'large', 'x'.repeat(30 * 2 ** 20))).toMatchObject(full);
    const upload = await begun(drop, 'half', 20 * 2 ** 20, join(at, drop));
    // Running uploads count.
    expect(await server.put(drop, 'other', 'x'.repeat(10 * 2 ** 20))).toMatchObject(full);
    // Another program fills the disk.
    await writeFile(join(at, 'foreign'), 'x'.repeat(36 * 2 ** 20));
    const answer = once(upload, 'response');
    upload.end('x'.repeat(20 * 2 ** 20 - 5));
    const [{ statusCode }] = await answer;
    expect(statusCode).toBe(422);
    await expect.poll(() => readdir(join(at, drop))).toEqual([]);
    await rm(join(at, 'foreign'));
    expect(await server.put(drop, 'small')).toMatchObject({ status: 200 });
  });
});

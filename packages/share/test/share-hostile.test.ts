// SPDX-License-Identifier: MPL-2.0
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { AttributeHow, MakeKind, type RenameHow, type ShareServer } from '@keibidrop/proto';
import { type Entry, encodePage, MAX_MANIFEST_BYTES, TOP } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unary } from '../src/guest/guest-session.ts';
import { ListingCheck } from '../src/share-entries.ts';
import { collect, ShareRoom } from './share-room.ts';

let room: ShareRoom;
beforeEach(async () => {
  room = await ShareRoom.open();
});
afterEach(() => room.close());

describe('a hostile guest', () => {
  beforeEach(async () => {
    await mkdir(room.path('folder', 'sub'), { recursive: true });
    await mkdir(room.path('outside'));
    await writeFile(room.path('outside', 'secret'), 'secret');
    await symlink(room.path('outside'), room.path('folder', 'way'));
    await symlink('../outside/secret', room.path('folder', 'secret'));
    await room.share('folder');
  });

  const PATHS: [string, string, string][] = [
    ['a way up', '../outside/secret', 'SHARE_PATH_REFUSED'],
    ['a way up in the middle', 'sub/../../outside', 'SHARE_PATH_REFUSED'],
    ['an absolute path', '/etc/passwd', 'SHARE_PATH_REFUSED'],
    ['a NUL', 'sub\0/x', 'SHARE_PATH_REFUSED'],
    ['an endless path', 'd/'.repeat(20_000), 'SHARE_PATH_REFUSED'],
    ['a name that is too long', 'n'.repeat(300), 'SHARE_PATH_REFUSED'],
    ['a way through a symlink', 'way/secret', 'SHARE_NOT_FOUND'],
    ['a missing file', 'nothing', 'SHARE_NOT_FOUND'],
  ];

  it.each(PATHS)('gets a named error for %s and nothing else, whatever it calls', async (_what, path, code) => {
    const { client } = await room.hostileGuest();
    const refused = expect.objectContaining({ details: code });
    await expect(unary((done) => client.stat({ path }, done), room)).rejects.toEqual(refused);
    await expect(unary((done) => client.fetch({ paths: [path] }, done), room)).rejects.toEqual(refused);
    await expect(collect(client.list({ path }) as AsyncIterable<unknown>)).rejects.toEqual(refused);
  });

  it('is refused malformed calls, with a name for each', async () => {
    await writeFile(room.path('folder', 'file'), 'content');
    const { client } = await room.hostileGuest();
    const call = Buffer.alloc(16, 1);
    const token = Buffer.alloc(16, 2);
    const make = { call, path: 'new', kind: MakeKind.FILE, mode: 0o600, target: '' };
    const finish = { handle: 1, size: 0, mtime: { seconds: 0, nanoseconds: 0 }, sync: false };
    const attribute = { call: Buffer.alloc(16, 6), path: 'file', name: 'user.x', value: call, how: AttributeHow.ANY };
    const open = { path: 'file', token, keep: 0, base: undefined };
    const calls: [string, Parameters<typeof unary>[0]][] = [
      ['EINVAL', (done) => client.make({ ...make, call: call.subarray(1) }, done)],
      ['EINVAL', (done) => client.make({ ...make, kind: MakeKind.UNSPECIFIED }, done)],
      ['EINVAL', (done) => client.make({ ...make, call: Buffer.alloc(16, 3), mode: 0o4755 }, done)],
      [
        'EINVAL',
        (done) => client.make({ ...make, call: Buffer.alloc(16, 4), kind: MakeKind.SYMLINK, target: 'a\0b' }, done),
      ],
      [
        'EINVAL',
        (done) => client.rename({ call: Buffer.alloc(16, 5), from: 'file', to: 'b', how: 9 as RenameHow }, done),
      ],
      ['EINVAL', (done) => client.openWrite({ ...open, token: Buffer.alloc(15) }, done)],
      ['EINVAL', (done) => client.openWrite({ ...open, base: { size: 1, mtime: undefined } }, done)],
      ['EINVAL', (done) => client.commit({ ...finish, mtime: { seconds: 2 ** 50, nanoseconds: 0 } }, done)],
      ['EINVAL', (done) => client.commit({ ...finish, mtime: { seconds: 1, nanoseconds: 2 ** 30 } }, done)],
      ['E2BIG', (done) => client.setAttribute({ ...attribute, value: Buffer.alloc(65_537) }, done)],
      ['ENOTSUP', (done) => client.setAttribute({ ...attribute, call: token, name: 'security.x' }, done)],
      ['ENOTSUP', (done) => client.getAttribute({ path: 'file', name: 'user.a\0b' }, done)],
    ];
    for (const [systemError, each] of calls) {
      await expect(unary(each, room)).rejects.toMatchObject({ details: `SHARE_CALL_FAILED:${systemError}` });
    }
    await expect(unary((done) => client.commit(finish, done), room)).rejects.toMatchObject({ details: 'CANCELLED' });
    await unary((done) => client.closeWrite({ handle: 77 }, done), room);
    expect(await readdir(room.path('folder'))).toEqual(['file', 'secret', 'sub', 'way']);
    expect(await readFile(room.path('folder', 'file'), 'utf8')).toBe('content');
  });

  it('sees a symlink that leads out, and gets the link but not its target', async () => {
    const guest = await room.connect();
    expect(await guest.stat('way', room)).toMatchObject({ type: 'symlink', target: room.path('outside') });
    await expect(collect(guest.list('way', room))).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND' });
    const out = room.path('out');
    const pull = { out, collisions: 'rename' as const, signal: room.signal, onEvent: () => {} };
    expect(await guest.pull(['way', 'secret'], pull)).toMatchObject({ files: 0, bytes: 0 });
  });

  it('learns that it asks for too much, and the others are still served', async () => {
    const { client } = await room.hostileGuest();
    const watches = Array.from({ length: 3 }, () => client.watch({ withoutOwn: false }));
    const failed = await Promise.race(
      watches.map((watch) => new Promise<{ details: string }>((resolve) => watch.on('error', resolve))),
    );
    expect(failed.details).toBe('PEER_BUSY');
    const fetches = Array.from({ length: 9 }, () =>
      unary((done) => client.fetch({ paths: ['sub'] }, done), new AbortController()),
    );
    const refusals = (await Promise.allSettled(fetches)).filter(({ status }) => status === 'rejected');
    expect(refusals).toEqual([expect.objectContaining({ reason: expect.objectContaining({ details: 'PEER_BUSY' }) })]);
    const paths = Array.from({ length: 2000 }, () => 'sub');
    await expect(unary((done) => client.fetch({ paths }, done), room)).rejects.toMatchObject({
      details: 'TRANSFER_LIMIT_EXCEEDED',
    });
    await expect(unary((done) => client.fetch({ paths: [] }, done), room)).rejects.toMatchObject({ details: 'USAGE' });
    const label = 'x'.repeat(200);
    await expect(unary((done) => client.info({ label }, done), room)).rejects.toMatchObject({
      details: 'TRANSFER_LIMIT_EXCEEDED',
    });
    for (const length of [1, 15, 17, 4096]) {
      const remember = new Uint8Array(length);
      await expect(unary((done) => client.info({ label: 'x', remember }, done), room)).rejects.toMatchObject({
        details: 'HANDSHAKE_MALFORMED',
      });
    }
    expect((await (await room.connect()).stat('sub', room)).type).toBe('directory');
  });
});

const NO_ID = new Uint8Array();

describe('a hostile host', () => {
  const file = (name: string): Entry => ({ type: 'file', mode: 0o644, parent: TOP, mtimeNs: 0n, size: 1, name });
  /** An entry that our own encoder would refuse: `good`, with the bytes of its name replaced. */
  const named = (good: string, bad: string) => {
    const page = encodePage([file(good)]);
    page.set(new TextEncoder().encode(bad), page.length - good.length);
    return page;
  };
  const listing =
    (...pages: Uint8Array[]): ShareServer['list'] =>
    (call) => {
      for (const entries of pages) call.write({ entries, leftOut: 0 });
      call.end();
    };

  const LISTS: [string, Uint8Array[], string][] = [
    ['a name with a slash', [named('aaa', 'a/b')], 'TRANSFER_PATH_REFUSED'],
    ['a name that leads up', [named('aa', '..')], 'TRANSFER_PATH_REFUSED'],
    ['a name with a NUL', [named('aaa', 'a\0b')], 'TRANSFER_PATH_REFUSED'],
    ['one name twice', [encodePage([file('a')]), encodePage([file('a')])], 'TRANSFER_PATH_REFUSED'],
    ['an entry that is cut off', [encodePage([file('a')]).subarray(0, 10)], 'TRANSFER_PATH_REFUSED'],
    ['an invalid size', [encodePage([file('a')]).fill(0xff, 15, 23)], 'TRANSFER_LIMIT_EXCEEDED'],
    ['a page that is too long', [new Uint8Array(300 * 1024)], 'TRANSFER_LIMIT_EXCEEDED'],
    ['an entry with a parent', [encodePage([{ ...file('a'), parent: 0 }])], 'HANDSHAKE_MALFORMED'],
    ['a stream', [encodePage([{ ...file('a'), type: 'stream', size: 0 }])], 'HANDSHAKE_MALFORMED'],
  ];

  it.each(LISTS)('is refused for a list with %s', async (_what, pages, code) => {
    await room.hostileHost({ list: listing(...pages) });
    const guest = await room.connect();
    await expect(collect(guest.list('', room))).rejects.toMatchObject({ code });
  });

  it('is left when its list has no end', () => {
    const check = new ListingCheck();
    const link = (i: number): Entry => ({
      ...file(`0000-${i + 10}`),
      type: 'symlink',
      size: 0,
      target: 't'.repeat(4000),
    });
    const page = encodePage(Array.from({ length: 60 }, (_, i) => link(i)));
    let pages = 0;
    const endless = () => {
      for (; ; pages++) {
        const number = new TextEncoder().encode(String(pages).padStart(4, '0'));
        for (let i = 0; i < 60; i++) page.set(number, (i * page.length) / 60 + 25);
        check.add({ entries: page, leftOut: 0 });
      }
    };
    expect(endless).toThrow(expect.objectContaining({ code: 'TRANSFER_LIMIT_EXCEEDED' }));
    expect(pages).toBe(Math.floor(MAX_MANIFEST_BYTES / page.length));
  });

  it.each<[string, Partial<ShareServer>, string]>([
    [
      'another entry than was asked for',
      { stat: (_call, reply) => reply(null, { entry: encodePage([file('b')]) }) },
      'HANDSHAKE_MALFORMED',
    ],
    [
      'two entries',
      { stat: (_call, reply) => reply(null, { entry: encodePage([file('a'), file('b')]) }) },
      'HANDSHAKE_MALFORMED',
    ],
    ['none', { stat: (_call, reply) => reply(null, { entry: new Uint8Array() }) }, 'HANDSHAKE_MALFORMED'],
  ])('is refused for %s', async (_what, handlers, code) => {
    await room.hostileHost(handlers);
    const guest = await room.connect();
    await expect(guest.stat('a', room)).rejects.toMatchObject({ code });
  });

  it.each<[string, Parameters<ShareServer['watch']>[0] extends infer _ ? { kind: number; path: string } : never]>([
    ['of a path that leads up', { kind: 1, path: '../x' }],
    ['of no kind', { kind: 9, path: 'x' }],
    ['of nothing', { kind: 1, path: '' }],
  ])('is refused for a change %s', async (_what, change) => {
    const notice = { changes: [change as never], lookAgain: false, incomplete: false };
    await room.hostileHost({ watch: (call) => void call.write(notice) });
    const guest = await room.connect();
    await expect(guest.watch(room).next()).rejects.toMatchObject({ code: /HANDSHAKE_MALFORMED|SHARE_PATH_REFUSED/ });
  });

  it.each<[string, object, string]>([
    ['a name that leads up', { label: 'x', name: '..', readOnly: false, id: NO_ID }, 'TRANSFER_PATH_REFUSED'],
    [
      'an id of another length',
      { label: 'x', name: 'a', readOnly: false, id: new Uint8Array(15) },
      'HANDSHAKE_MALFORMED',
    ],
    [
      'a label without end',
      { label: 'x'.repeat(500), name: 'a', readOnly: false, id: NO_ID },
      'TRANSFER_LIMIT_EXCEEDED',
    ],
  ])('is left for %s', async (_what, info, code) => {
    await room.hostileHost({ info: (_call, reply) => reply(null, info as never) });
    await expect(room.connect()).rejects.toMatchObject({ code });
  });

  it('is refused for an invalid code', async () => {
    await room.hostileHost({ fetch: (_call, reply) => reply(null, { code: '../x' }) });
    const guest = await room.connect();
    await expect(guest.invitation(['a'], room)).rejects.toMatchObject({ code: 'CODE_MALFORMED' });
  });
});

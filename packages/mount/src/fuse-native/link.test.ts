// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodePage as encodeEntries, TOP } from '@keibidrop/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { encodeChanges, encodeDone, encodeFlag, encodePage, type FromHost, HostMessages } from '../host-message.ts';
import { Failure } from './failure.ts';
import { entriesOf, Link } from './link.ts';
import { Body, type FromPeer } from './peer-message.ts';

const { errno } = constants;
const PATIENCE_MS = 200;
let directory: string;
let peer: Socket;
let host: Socket;
let heard: FromPeer[];
let link: Link;
let asked: AsyncGenerator<FromHost>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'keibi-link-'));
  const server = createServer().listen(join(directory, 'link'));
  await once(server, 'listening');
  host = createConnection(join(directory, 'link'));
  [peer] = (await once(server, 'connection')) as [Socket];
  server.close();
  heard = [];
  link = new Link(host, PATIENCE_MS, (message) => heard.push(message));
  asked = said();
});
afterEach(() => {
  peer.destroy();
  host.destroy();
  rmSync(directory, { recursive: true });
});

async function* said(): AsyncGenerator<FromHost> {
  const messages = new HostMessages();
  for await (const bytes of peer as AsyncIterable<Buffer>) yield* messages.take(bytes);
}

async function next(): Promise<FromHost> {
  return (await asked.next()).value as FromHost;
}

it('says what the Peer understands', async () => {
  const key = 'ab'.repeat(16);
  link.tell('failed', new Body().u32(errno.EACCES).rest('why'));
  link.tell('release', new Body().bytes(Buffer.from(key)));
  void link.ask('make', new Body().u8(2).u16(0o750).text('d/é').rest('')).catch(() => {});
  void link.ask('rename', new Body().u8(0).text('from').rest('to')).catch(() => {});
  const want = new Body()
    .bytes(Buffer.from(key))
    .i64(2 ** 40)
    .i64(-5n)
    .u32(1)
    .u32(2)
    .u32(3)
    .rest('d/f');
  void link.ask('want', want).catch(() => {});
  expect(await next()).toEqual({ type: 'failed', systemError: errno.EACCES, reason: 'why' });
  expect(await next()).toEqual({ type: 'release', key });
  expect(await next()).toMatchObject({ type: 'make', request: 1, entry: 'directory', mode: 0o750, path: 'd/é' });
  expect(await next()).toEqual({ type: 'rename', request: 2, from: 'from', to: 'to', how: 'replace' });
  expect(await next()).toMatchObject({
    type: 'want',
    key,
    size: 2 ** 40,
    mtimeNs: -5n,
    first: 1,
    ahead: 3,
    path: 'd/f',
  });
});

it('hears what the Peer says, however it comes', async () => {
  const changes = [
    { kind: 'made', path: 'd/é' },
    { kind: 'removed', path: '' },
  ] as const;
  const entry = { type: 'file', parent: TOP, name: 'f', size: 7, mtimeNs: 8n, mode: 0o600 } as const;
  const pages: Buffer[] = [];
  const answer = link.ask('look', new Body().rest('f'), { onPage: (page) => pages.push(page) });
  const { request } = (await next()) as { request: number };
  const all = Buffer.concat([
    encodeFlag('watched', true),
    encodeChanges(changes),
    encodePage(request, encodeEntries([entry])),
    encodeDone(request, 0, 5),
    encodeFlag('away', false),
  ]);
  for (const byte of all) peer.write(Uint8Array.of(byte));
  expect((await answer).readUInt32BE(0)).toBe(5);
  expect(entriesOf(pages[0] as Buffer)).toMatchObject([{ name: 'f', size: 7, mtimeNs: 8n, mode: 0o600 }]);
  await expect
    .poll(() => heard)
    .toEqual([
      { type: 'watched', flag: true },
      { type: 'changes', changes },
      { type: 'away', flag: false },
    ]);
});

it('fails what is refused, what is not answered in time, and all when the Peer has gone', async () => {
  const refused = link.ask('list', new Body().rest('d'));
  const { request } = (await next()) as { request: number };
  peer.write(encodeDone(request, errno.ENOENT));
  await expect(refused).rejects.toEqual(new Failure(errno.ENOENT));
  const began = Date.now();
  await expect(link.ask('list', new Body().rest('d'))).rejects.toEqual(new Failure('ETIMEDOUT'));
  expect(Date.now() - began).toBeGreaterThanOrEqual(PATIENCE_MS - 10);
  const last = link.ask('list', new Body().rest('d'), { patiences: 100 });
  peer.destroy();
  await expect(last).rejects.toEqual(new Failure('ENOTCONN'));
  await link.ended;
  await expect(link.ask('space', new Body())).rejects.toEqual(new Failure('ENOTCONN'));
});

it.each([
  ['a type that is none', Buffer.from([0, 0, 0, 5, 0x7f, 0, 0, 0, 0])],
  ['a message that is too long', Buffer.from([0xff, 0, 0, 5, 0x81, 0, 0, 0, 0])],
  ['a change that is cut off', Buffer.from([0, 0, 0, 8, 0x83, 0, 0, 0, 0, 1, 0, 9])],
])('ends with %s', async (_, bytes) => {
  peer.write(bytes);
  await link.ended;
});

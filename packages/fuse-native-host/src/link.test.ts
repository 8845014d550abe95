// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  cutMessages,
  decodeFromHost,
  decodeWantAnswer,
  encodeFromDaemon,
  encodeWantAnswer,
  type FromDaemon,
  type FromHost,
} from '@keibidrop/proto/mount-host';
import { encodePage, TOP } from '@keibidrop/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Failure } from './failure.ts';
import { entriesOf, Link } from './link.ts';

const { errno } = constants;
const PATIENCE_MS = 200;
let directory: string;
let peer: Socket;
let host: Socket;
let heard: FromDaemon[];
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
  const cut = cutMessages(decodeFromHost);
  for await (const bytes of peer as AsyncIterable<Buffer>) yield* cut(bytes);
}

async function next(): Promise<FromHost> {
  return (await asked.next()).value as FromHost;
}

it('sends messages that the daemon understands', async () => {
  const key = 'ab'.repeat(16);
  const failed = { type: 'failed', systemError: errno.EACCES, reason: 'why' } as const;
  const make = { type: 'make', kind: 'directory', mode: 0o750, path: 'd/é', target: '' } as const;
  const rename = { type: 'rename', how: 'replace', from: 'from', to: 'to' } as const;
  const want = { type: 'want', key, size: 2 ** 40, mtimeNs: -5n, first: 1, count: 2, ahead: 3, path: 'd/f' } as const;
  link.report(failed);
  link.report({ type: 'release', key });
  for (const request of [make, rename, want]) void link.ask(request).catch(() => {});
  expect(await next()).toEqual(failed);
  expect(await next()).toEqual({ type: 'release', key });
  expect(await next()).toEqual({ ...make, request: 1 });
  expect(await next()).toEqual({ ...rename, request: 2 });
  expect(await next()).toEqual({ ...want, request: 3 });
});

it('receives messages of the daemon in any split', async () => {
  const changes: (FromDaemon & { type: 'changes' })['changes'] = [
    { kind: 'created', path: 'd/é' },
    { kind: 'removed', path: '' },
  ];
  const entry = { type: 'file', parent: TOP, name: 'f', size: 7, mtimeNs: 8n, mode: 0o600 } as const;
  const pages: Uint8Array[] = [];
  const answer = link.ask({ type: 'look', path: 'f' }, { onPage: (page) => pages.push(page) });
  const { request } = (await next()) as { request: number };
  const all = Buffer.concat([
    encodeFromDaemon({ type: 'watched', flag: true }),
    encodeFromDaemon({ type: 'changes', changes }),
    encodeFromDaemon({ type: 'page', request, body: encodePage([entry]) }),
    encodeFromDaemon({ type: 'done', request, systemError: 0, body: encodeWantAnswer({ aheadBlocks: 5 }) }),
    encodeFromDaemon({ type: 'away', flag: false }),
  ]);
  for (const byte of all) peer.write(Uint8Array.of(byte));
  expect(decodeWantAnswer(await answer)).toEqual({ aheadBlocks: 5 });
  expect(entriesOf(pages[0] as Uint8Array)).toMatchObject([{ name: 'f', size: 7, mtimeNs: 8n, mode: 0o600 }]);
  await expect
    .poll(() => heard)
    .toEqual([
      { type: 'watched', flag: true },
      { type: 'changes', changes },
      { type: 'away', flag: false },
    ]);
});

it('fails refused and unanswered requests, and all of them when the daemon has ended', async () => {
  const list = { type: 'list', path: 'd' } as const;
  const refused = link.ask(list);
  const { request } = (await next()) as { request: number };
  peer.write(encodeFromDaemon({ type: 'done', request, systemError: errno.ENOENT, body: Buffer.alloc(0) }));
  await expect(refused).rejects.toEqual(new Failure(errno.ENOENT));
  const began = Date.now();
  await expect(link.ask(list)).rejects.toEqual(new Failure('ETIMEDOUT'));
  expect(Date.now() - began).toBeGreaterThanOrEqual(PATIENCE_MS - 10);
  const last = link.ask(list, { patiences: 100 });
  peer.destroy();
  await expect(last).rejects.toEqual(new Failure('ENOTCONN'));
  await link.ended;
  await expect(link.ask({ type: 'space' })).rejects.toEqual(new Failure('ENOTCONN'));
});

it.each([
  ['a type that is none', Buffer.from([0, 0, 0, 5, 0x7f, 0, 0, 0, 0])],
  ['a message that is too long', Buffer.from([0xff, 0, 0, 5, 0x81, 0, 0, 0, 0])],
  ['a change that is cut off', Buffer.from([0, 0, 0, 8, 0x83, 0, 0, 0, 0, 1, 0, 9])],
])('ends with %s', async (_, bytes) => {
  peer.write(bytes);
  await link.ended;
});

// SPDX-License-Identifier: MPL-2.0
import { createServer, type Socket } from 'node:net';
import { joinMailbox, type MailboxState, observePort, ownMailbox } from '@keibidrop/discovery';
import { Listener } from '@keibidrop/native';
import { openRelayServer } from '@keibidrop/server';
import { openGrpcChannel as openChannel } from '@keibidrop/session';
import { afterEach, beforeEach, expect, it } from 'vitest';

const MAILBOX = 'ab'.repeat(32);
const { signal } = new AbortController();
const open: { close(): unknown }[] = [];
let place: { host: string; port: number };

beforeEach(async () => {
  const log = { level: 'silent' as const, write: () => {} };
  const server = await openRelayServer({ listen: { host: '127.0.0.1', port: 0 }, log, signal });
  open.push(server);
  place = { host: '127.0.0.1', port: server.port };
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

function listen(): Listener {
  const listener = Listener.open({ host: '127.0.0.1', port: 0, onConnection: () => {} });
  open.push(listener);
  return listener;
}

async function ownFrom(fromPort: number, mailbox: string): Promise<MailboxState | undefined> {
  let state: MailboxState | undefined;
  const owner = await ownMailbox(place, mailbox, {
    openChannel,
    signal,
    fromPort,
    onState: (reported) => (state = reported),
  });
  open.push(owner);
  return state;
}

it('a server reports how it sees a port, from which others can be dialled afterwards', async () => {
  const seen = await observePort(place, { fromPort: 0, signal });
  expect(seen).toMatchObject({ host: '127.0.0.1', port: seen.fromPort, fromPort: expect.any(Number) });
  expect(Math.abs(seen.aheadMs ?? Number.NaN)).toBeLessThan(60_000);
  const { port } = listen();
  expect(await observePort(place, { fromPort: port, signal })).toMatchObject({
    host: '127.0.0.1',
    port,
    fromPort: port,
  });
});

it('an owner is seen at its listening port, and at another one while that is taken', async () => {
  const { port } = listen();
  expect(await ownFrom(port, MAILBOX)).toMatchObject({ observed: { host: '127.0.0.1', port, fromPort: port } });
  const second = await ownFrom(port, 'cd'.repeat(32));
  expect(second?.kind === 'open' && second.observed?.fromPort).not.toBe(port);
});

it('a guest learns how it is seen', async () => {
  await ownFrom(listen().port, MAILBOX);
  const pipe = await joinMailbox(place, MAILBOX, { openChannel, signal, fromPort: 0 });
  open.push(pipe);
  const { observed } = pipe;
  expect(observed).toEqual({ host: '127.0.0.1', port: observed?.fromPort, fromPort: expect.any(Number) });
});

it.each([
  ['another answer', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
  ['no address', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{"host":"a","port":1}'],
  ['an error', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'],
  ['too much', `HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n${'x'.repeat(5000)}`],
  ['something else', 'SSH-2.0\r\n'],
  ['nothing', ''],
])('a server that reports %s is refused', async (_, answer) => {
  const connections: Socket[] = [];
  const server = createServer((socket) => {
    connections.push(socket.on('error', () => {}));
    socket.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  const { port } = server.address() as { port: number };
  const asked = observePort({ host: '127.0.0.1', port }, { fromPort: 0, signal });
  await expect(asked).rejects.toMatchObject({ code: 'RENDEZVOUS_UNREACHABLE' });
  for (const connection of connections) connection.destroy();
});

// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import { status } from '@grpc/grpc-js';
import type { Conversation, Owner } from '@keibidrop/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import type { RendezvousOptions } from '../src/index.ts';
import { serveOnLoopback } from './loopback.ts';

const MAILBOX = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const { signal } = new AbortController();

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(limits?: RendezvousOptions['limits']) {
  const server = await serveOnLoopback(limits ? { limits } : {});
  open.push(server);
  return server;
}

async function nextGuest(owner: AsyncIterator<Conversation>): Promise<Conversation> {
  const { value } = await owner.next();
  return value;
}

const iterate = (owner: Owner) => owner[Symbol.asyncIterator]();

describe('limits of a network', () => {
  it("counts a network's misses at a sender's own port, as at a server", async () => {
    const server = await serve();
    server.rendezvous.own(MAILBOX);
    const codes = [];
    for (let index = 0; index < 31; index++) {
      const guest = server.call();
      guest.open(index.toString(16).padStart(64, '0'));
      codes.push((await guest.status).code);
    }
    expect(codes).toEqual([...new Array(30).fill(status.NOT_FOUND), status.RESOURCE_EXHAUSTED]);
    expect(server.rendezvous.stats.guessesRefused).toBe(1);
  });

  /** The first bytes of an HTTP/2 client: the preface and empty SETTINGS. */
  const FIRST_WORDS = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0),
  ]);

  it.each([
    ['sends only the HTTP/2 preface', (socket: Socket) => socket.write(FIRST_WORDS)],
    [
      'answers pings and acknowledges settings, but never calls',
      (socket: Socket) => {
        const session = connectHttp2('http://peer', { createConnection: () => socket });
        session.on('error', () => {});
        // Receives the goodbye and ignores it.
        session.on('goaway', () => {});
        session.close = () => {};
      },
    ],
  ])('ends a connection that %s', async (_how, begin) => {
    const server = await serve({ openTimeoutMs: 500 });
    const socket = await server.dial();
    begin(socket);
    const often = { interval: 5, timeout: 20_000 };
    await expect.poll(() => server.rendezvous.stats.connections, often).toBe(1);
    await expect.poll(() => server.rendezvous.stats.connections, often).toBe(0);
    socket.destroy();
  });

  it('ends the oldest silent connection of a network with too many, but none in a mailbox', async () => {
    const server = await serve({ silentConnectionsPerNetwork: 2, openTimeoutMs: 600_000 });
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guest = server.call();
    guest.open(MAILBOX);
    await guest.next();
    const conversation = await nextGuest(owner);
    const silent = [];
    for (let index = 0; index < 3; index++) silent.push((await server.dial()).resume());
    await once(silent[0] as Socket, 'close');
    expect(server.rendezvous.stats).toMatchObject({ connections: 3, silentCrowdedOut: 1, conversations: 1 });
    await conversation.send(Buffer.from('still here'));
    expect(await guest.next()).toMatchObject({ $case: 'body' });
    guest.end();
    await guest.status;
  });

  it('limits the conversations and the queued bodies of a network', async () => {
    const room = { conversations: 10, conversationsPerNetwork: 2, queuedBytes: 100_000, queuedBytesPerNetwork: 4096 };
    const server = await serve({ mailboxes: 3, meetings: room });
    const owners = [MAILBOX, OTHER, 'ef'.repeat(32)].map((mailbox) => iterate(server.rendezvous.own(mailbox)));
    const guests = [MAILBOX, OTHER].map((mailbox) => {
      const guest = server.call();
      guest.open(mailbox);
      return guest;
    });
    for (const guest of guests) await guest.next();
    const third = server.call();
    third.open('ef'.repeat(32));
    expect((await third.status).code).toBe(status.RESOURCE_EXHAUSTED);
    guests[0]?.body('x'.repeat(4096));
    const taken = await nextGuest(owners[0] as AsyncIterator<Conversation>);
    expect(await taken.receive({ signal })).toHaveLength(4096);
    guests[0]?.body('x'.repeat(4096));
    guests[0]?.body('one too many');
    expect((await guests[0]?.status)?.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(server.rendezvous.stats).toMatchObject({ conversationsRefused: 2, conversations: 1 });
  });
});

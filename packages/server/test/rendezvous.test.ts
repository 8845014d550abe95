// SPDX-License-Identifier: MPL-2.0
import { getEventListeners, once } from 'node:events';
import { status } from '@grpc/grpc-js';
import { Open_Role } from '@keibidrop/proto';
import { type Conversation, MAX_MAILBOX_BODY_BYTES, type Owner } from '@keibidrop/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import type { RendezvousOptions } from '../src/index.ts';
import { EMBEDDED_LIMITS, Mailboxes } from '../src/mailbox.ts';
import { type RawCall, serveOnLoopback } from './loopback.ts';

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
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('an owner in process', () => {
  it('talks with each guest separately', async () => {
    const server = await serve();
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guests = [server.call(), server.call()];
    for (const [index, guest] of guests.entries()) {
      guest.open(MAILBOX);
      expect(await guest.next()).toEqual({
        $case: 'opened',
        value: { host: '', port: 0, relay: false, relayHost: '', relayPort: 0, shared: false },
      });
      guest.body(`hello ${index}`);
    }
    const conversations = [await nextGuest(owner), await nextGuest(owner)];
    for (const conversation of conversations) {
      const said = text(await conversation.receive({ signal }));
      await conversation.send(Buffer.from(`you said ${said}`));
    }
    for (const [index, guest] of guests.entries()) {
      const reply = await guest.next();
      expect(reply).toMatchObject({ $case: 'body', value: { guest: 0 } });
      expect(reply?.$case === 'body' && text(reply.value.body)).toBe(`you said hello ${index}`);
    }
    expect(new Set(conversations.map(({ guest }) => guest)).size).toBe(2);
  });

  it('has its last message delivered when it closes a conversation', async () => {
    const server = await serve();
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guest = server.call();
    guest.open(MAILBOX);
    await guest.next();
    const conversation = await nextGuest(owner);
    await conversation.send(Buffer.from('no'));
    conversation.close();
    expect(await guest.next()).toMatchObject({ $case: 'body' });
    expect(await guest.next()).toBeUndefined();
    expect((await guest.status).code).toBe(status.OK);
  });

  it('receives nothing more from a conversation that it has closed', async () => {
    const mailboxes = new Mailboxes(EMBEDDED_LIMITS);
    const owner = iterate(mailboxes.own(MAILBOX));
    const guest = mailboxes.join(MAILBOX);
    await guest.send(Buffer.from('one'));
    await guest.send(Buffer.from('two'));
    const conversation = await nextGuest(owner);
    expect(text(await conversation.receive({ signal }))).toBe('one');
    conversation.close();
    for (const pipe of [conversation, guest]) {
      await expect(pipe.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
      await expect(pipe.send(Buffer.from('x'))).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    }
    mailboxes.close();
  });

  it.each(['end', 'cancel'] as const)('learns that a guest has left by %s', async (how) => {
    const server = await serve();
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guest = server.call();
    guest.open(MAILBOX);
    await guest.next();
    const conversation = await nextGuest(owner);
    guest[how]();
    await expect(conversation.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  });

  it('still receives messages that a guest sent before it left', async () => {
    const server = await serve();
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guest = server.call();
    guest.open(MAILBOX);
    guest.body('one');
    guest.body('two');
    guest.end();
    expect(await guest.next()).toMatchObject({ $case: 'opened' });
    expect(await guest.next()).toBeUndefined();
    const conversation = await nextGuest(owner);
    expect(text(await conversation.receive({ signal }))).toBe('one');
    expect(text(await conversation.receive({ signal }))).toBe('two');
    await expect(conversation.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  });

  it('ends its conversations and its iteration when it gives the mailbox up', async () => {
    const server = await serve();
    const owned = server.rendezvous.own(MAILBOX);
    const owner = iterate(owned);
    const guest = server.call();
    guest.open(MAILBOX);
    await guest.next();
    await nextGuest(owner);
    owned.close();
    expect(await owner.next()).toEqual({ done: true, value: undefined });
    expect((await guest.status).code).toBe(status.OK);
    server.rendezvous.own(MAILBOX).close();
  });

  it('rejects with the reason of an abort and leaves no listener', async () => {
    const server = await serve();
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guest = server.call();
    guest.open(MAILBOX);
    const conversation = await nextGuest(owner);
    const controller = new AbortController();
    const receiving = conversation.receive({ signal: controller.signal });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(receiving).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});

describe('an owner over gRPC', () => {
  it('talks with guests by their numbers and can dismiss one', async () => {
    const server = await serve();
    const owner = server.call();
    owner.open(MAILBOX, Open_Role.OWNER);
    expect(await owner.next()).toMatchObject({ $case: 'opened' });
    const guest = server.call();
    guest.open(MAILBOX);
    await guest.next();
    guest.body('hello');
    const heard = await owner.next();
    expect(heard).toMatchObject({ $case: 'body', value: { guest: 1 } });
    owner.body('welcome', 1);
    expect(await guest.next()).toMatchObject({ $case: 'body', value: { guest: 0 } });
    owner.write({ kind: { $case: 'dismiss', value: { guest: 1 } } });
    expect(await owner.next()).toEqual({ $case: 'left', value: { guest: 1 } });
    expect((await guest.status).code).toBe(status.OK);
  });

  it('gives up the mailbox by ending its call', async () => {
    const server = await serve();
    const owner = server.call();
    owner.open(MAILBOX, Open_Role.OWNER);
    await owner.next();
    owner.end();
    await owner.status;
    const guest = server.call();
    guest.open(MAILBOX);
    expect((await guest.status).code).toBe(status.NOT_FOUND);
  });
});

describe('an owner with an identifier', () => {
  const known = Buffer.alloc(16, 1);

  it('takes its mailbox over from a dead attachment; other owners cannot', async () => {
    const server = await serve();
    const dead = server.call();
    dead.open(MAILBOX, Open_Role.OWNER, known);
    await dead.next();
    for (const other of [Buffer.alloc(16, 2), Buffer.alloc(0)]) {
      const rival = server.call();
      rival.open(MAILBOX, Open_Role.OWNER, other);
      expect((await rival.status).code).toBe(status.ALREADY_EXISTS);
    }
    const again = server.call();
    again.open(MAILBOX, Open_Role.OWNER, known);
    expect(await again.next()).toMatchObject({ $case: 'opened' });
    expect((await dead.status).code).toBe(status.OK);
    expect(server.rendezvous.stats.mailboxes).toBe(1);
    const guest = server.call();
    guest.open(MAILBOX);
    guest.body('hello');
    expect(await again.next()).toMatchObject({ $case: 'body' });
  });

  it('must have 16 bytes or none', async () => {
    const server = await serve();
    const owner = server.call();
    owner.open(MAILBOX, Open_Role.OWNER, Buffer.alloc(15, 1));
    expect((await owner.status).code).toBe(status.INVALID_ARGUMENT);
  });
});

describe('refusals', () => {
  it('finds no mailbox without an owner', async () => {
    const server = await serve();
    server.rendezvous.own(MAILBOX);
    const guest = server.call();
    guest.open(OTHER);
    expect(await guest.status).toMatchObject({ code: status.NOT_FOUND, details: 'RENDEZVOUS_NOT_FOUND' });
  });

  it('gives a mailbox to one owner only, and respects the limit of mailboxes', async () => {
    const server = await serve({ mailboxes: 2 });
    server.rendezvous.own(MAILBOX);
    expect(() => server.rendezvous.own(MAILBOX)).toThrow(expect.objectContaining({ code: 'RENDEZVOUS_BUSY' }));
    server.rendezvous.own(OTHER);
    expect(() => server.rendezvous.own('ef'.repeat(32))).toThrow(expect.objectContaining({ code: 'RENDEZVOUS_BUSY' }));
  });

  it('admits guests up to the limit, and another one when one has left', async () => {
    const server = await serve({ guests: 2 });
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guests = [server.call(), server.call()];
    for (const guest of guests) {
      guest.open(MAILBOX);
      await guest.next();
    }
    const first = await nextGuest(owner);
    await nextGuest(owner);
    const refused = server.call();
    refused.open(MAILBOX);
    expect((await refused.status).code).toBe(status.RESOURCE_EXHAUSTED);
    first.close();
    const admitted = server.call();
    admitted.open(MAILBOX);
    expect(await admitted.next()).toMatchObject({ $case: 'opened' });
  });

  it('drops a guest that sends more bodies than the owner takes', async () => {
    const server = await serve({ queuedBodies: 16 });
    server.rendezvous.own(MAILBOX);
    const guest = server.call();
    guest.open(MAILBOX);
    for (let index = 0; index < 17; index++) guest.body('x');
    expect((await guest.status).code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it.each([
    ['a first message that is not open', (call: RawCall) => call.body('x')],
    ['a mailbox of another length', (call: RawCall) => call.open('abcd')],
    ['an empty message', (call: RawCall) => call.write({ kind: undefined })],
  ])('refuses %s', async (_what, send) => {
    const server = await serve();
    server.rendezvous.own(MAILBOX);
    const guest = server.call();
    send(guest);
    expect((await guest.status).code).toBe(status.INVALID_ARGUMENT);
  });

  it('refuses a body longer than MAX_MAILBOX_BODY_BYTES', async () => {
    const server = await serve();
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guest = server.call();
    guest.open(MAILBOX);
    guest.body('x'.repeat(MAX_MAILBOX_BODY_BYTES));
    const conversation = await nextGuest(owner);
    expect(await conversation.receive({ signal })).toHaveLength(MAX_MAILBOX_BODY_BYTES);
    guest.body('x'.repeat(MAX_MAILBOX_BODY_BYTES + 1));
    expect((await guest.status).code).toBe(status.INVALID_ARGUMENT);
    const flood = server.call();
    flood.open(MAILBOX);
    flood.body('x'.repeat(100_000));
    expect((await flood.status).code).toBe(status.RESOURCE_EXHAUSTED);
  });
});

describe('time limits and capacity', () => {
  it('can be made ready before the first guest, again, and while it closes', async () => {
    const server = await serve();
    await server.rendezvous.ready();
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guest = server.call();
    guest.open(MAILBOX);
    await nextGuest(owner);
    await Promise.all([server.rendezvous.ready(), server.rendezvous.close()]);
    await server.rendezvous.ready();
  });

  it('drops a call that opens no mailbox in time', async () => {
    const server = await serve({ openTimeoutMs: 500 });
    const silent = server.call();
    expect((await silent.status).code).toBe(status.DEADLINE_EXCEEDED);
  });

  it('drops a connection that sends nothing in time', async () => {
    const server = await serve({ openTimeoutMs: 50 });
    const socket = await server.dial();
    socket.resume();
    await once(socket, 'close');
  });

  it('ends an idle conversation', async () => {
    const server = await serve({ idleMs: 50 });
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guest = server.call();
    guest.open(MAILBOX);
    await guest.next();
    const conversation = await nextGuest(owner);
    await expect(conversation.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    expect((await guest.status).code).toBe(status.OK);
  });

  it('closes the oldest connection when there is one too many', async () => {
    const server = await serve({ connections: 1 });
    const first = await server.dial();
    const second = await server.dial();
    first.resume();
    await once(first, 'close');
    expect(second.destroyed).toBe(false);
    second.destroy();
  });

  it('survives bytes that are not HTTP/2', async () => {
    const server = await serve();
    const socket = await server.dial();
    socket.resume();
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
    const owner = iterate(server.rendezvous.own(MAILBOX));
    const guest = server.call();
    guest.open(MAILBOX);
    await nextGuest(owner);
  });
});

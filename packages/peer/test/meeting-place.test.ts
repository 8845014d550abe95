// SPDX-License-Identifier: MPL-2.0
import { getEventListeners, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { announce, createRegistryTransport, joinAnywhere, joinMailbox } from '@keibidrop/discovery';
import { Listener } from '@keibidrop/native';
import { type Conversation, mailboxOf, type Owner, parseCode } from '@keibidrop/protocol';
import { type RendezvousOptions, RendezvousServer } from '@keibidrop/server';
import { meetAsGuest, meetAsOwner, openGrpcChannel as openChannel } from '@keibidrop/session';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// Where discovery's guest and the server's owner meet: the native listener, gRPC and the mailbox between them.

const CODE = parseCode('7-guitar-pencil');
const MAILBOX = mailboxOf(CODE.nameplate);
const { signal } = new AbortController();

let rendezvous: RendezvousServer;
let listener: Listener;
let place: { host: string; port: number };

function serve(limits: RendezvousOptions['limits'] = {}): void {
  rendezvous = new RendezvousServer({ limits });
  listener = Listener.open({
    host: '127.0.0.1',
    port: 0,
    onConnection: ({ fd }) => rendezvous.attach(new Socket({ fd, readable: true, writable: true })),
  });
  place = { host: '127.0.0.1', port: listener.port };
}

beforeEach(() => serve());
afterEach(async () => {
  await rendezvous.close();
  await listener.close();
});

async function meet(owner: Owner = rendezvous.own(MAILBOX)) {
  const guest = await joinMailbox(place, MAILBOX, { signal, openChannel });
  const { value } = (await owner[Symbol.asyncIterator]().next()) as { value: Conversation };
  return { guest, owner: value };
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('a guest', () => {
  it('meets the owner by the code over the embedded rendezvous', async () => {
    const { guest, owner } = await meet();
    const [asGuest, asOwner] = await Promise.all([
      meetAsGuest(guest, CODE, { signal }),
      meetAsOwner(owner, CODE, { signal }),
    ]);
    expect(asGuest.attempt).toEqual(asOwner.attempt);
    guest.close();
  });

  it('learns that its code is wrong, though the owner closes at once', async () => {
    const { guest, owner } = await meet();
    const wrong = parseCode('7-guitar-window');
    await expect(
      Promise.all([meetAsGuest(guest, wrong, { signal }), meetAsOwner(owner, CODE, { signal }).catch(() => {})]),
    ).rejects.toMatchObject({ code: 'CODE_WRONG' });
  });

  it('gets bodies in order and then the end', async () => {
    const { guest, owner } = await meet();
    for (let count = 0; count < 10; count++) await owner.send(Buffer.from(`${count}`));
    owner.close();
    for (let count = 0; count < 10; count++) expect(text(await guest.receive({ signal }))).toBe(`${count}`);
    await expect(guest.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    await expect(guest.send(Buffer.from('late'))).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  });

  it('delivers its last message when it closes', async () => {
    const { guest, owner } = await meet();
    void guest.send(Buffer.from('good'));
    void guest.send(Buffer.from('bye'));
    guest.close();
    guest.close();
    expect(text(await owner.receive({ signal }))).toBe('good');
    expect(text(await owner.receive({ signal }))).toBe('bye');
    await expect(owner.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  });

  it('gets the reason of an abort while it waits, leaves no listener, and can continue', async () => {
    const { guest, owner } = await meet();
    const controller = new AbortController();
    const reason = new Error('enough');
    const receiving = guest.receive({ signal: controller.signal });
    controller.abort(reason);
    await expect(receiving).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    await owner.send(Buffer.from('still here'));
    expect(text(await guest.receive({ signal }))).toBe('still here');
    guest.close();
  });

  it('learns at once that the owner’s process has ended', async () => {
    const { guest } = await meet();
    const receiving = guest.receive({ signal });
    await rendezvous.close();
    await expect(receiving).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  });

  it('leaves no listener on the signal, whether it has joined or not', async () => {
    const controller = new AbortController();
    const options = { signal: controller.signal, openChannel };
    await expect(joinMailbox(place, MAILBOX, options)).rejects.toMatchObject({ code: 'RENDEZVOUS_NOT_FOUND' });
    rendezvous.own(MAILBOX);
    const pipe = await joinMailbox(place, MAILBOX, options);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    pipe.close();
  });

  it('is refused if the mailbox is full', async () => {
    await rendezvous.close();
    await listener.close();
    serve({ guests: 1 });
    await meet();
    await expect(joinMailbox(place, MAILBOX, { signal, openChannel })).rejects.toMatchObject({
      code: 'RENDEZVOUS_BUSY',
    });
  });

  it('finds no rendezvous at a closed port', async () => {
    await listener.close();
    await expect(joinMailbox(place, MAILBOX, { signal, openChannel })).rejects.toMatchObject({
      code: 'RENDEZVOUS_UNREACHABLE',
    });
  });

  it('can be aborted while a rendezvous does not answer', async () => {
    const silent = await listenSilently();
    const controller = new AbortController();
    const reason = new Error('enough');
    const joining = joinMailbox(addressOf(silent), MAILBOX, { signal: controller.signal, openChannel });
    await once(silent, 'connection');
    controller.abort(reason);
    await expect(joining).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    silent.close();
  });
});

describe('a code', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keibidrop-place-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const search = () => [createRegistryTransport({ directory })];

  it('is found through the registry of this machine', async () => {
    const owner = rendezvous.own(MAILBOX);
    const withdraw = await announce(MAILBOX, place, { directory });
    const found = await joinAnywhere({ mailbox: MAILBOX, transports: search(), signal, openChannel });
    expect(found.place).toEqual({ transport: 'local', ...place });
    found.pipe.close();
    owner.close();
    await withdraw();
  });

  it('is found at the address the user named, and nowhere else', async () => {
    rendezvous.own(MAILBOX);
    await announce(MAILBOX, { ...place, port: 1 }, { directory });
    const found = await joinAnywhere({ mailbox: MAILBOX, connect: place, transports: search(), signal, openChannel });
    expect(found.place.transport).toBe('direct');
    found.pipe.close();
  });

  it('is found at the public rendezvous after a registered sender that does not answer', async () => {
    rendezvous.own(MAILBOX);
    await announce(MAILBOX, { host: '127.0.0.1', port: 1 }, { directory });
    const found = await joinAnywhere({
      mailbox: MAILBOX,
      rendezvous: place,
      transports: search(),
      signal,
      openChannel,
    });
    expect(found.place.transport).toBe('rendezvous');
    found.pipe.close();
  });

  it('without a sender is not found, and the message says where it was searched and what to do', async () => {
    const finding = joinAnywhere({ mailbox: MAILBOX, rendezvous: place, transports: search(), signal, openChannel });
    await expect(finding).rejects.toMatchObject({
      code: 'RENDEZVOUS_NOT_FOUND',
      message: expect.stringMatching(/on this machine or at the rendezvous 127\.0\.0\.1:\d+\. .*--connect HOST:PORT/),
      detail: { attempts: [{ transport: 'rendezvous', error: { code: 'RENDEZVOUS_NOT_FOUND' } }] },
    });
    await expect(joinAnywhere({ mailbox: MAILBOX, connect: place, signal, openChannel })).rejects.toMatchObject({
      code: 'RENDEZVOUS_NOT_FOUND',
      message: expect.stringContaining(`The sender at 127.0.0.1:${place.port} does not wait under that number.`),
    });
  });

  it('searched at a silent address is PEER_UNREACHABLE', async () => {
    await listener.close();
    await expect(joinAnywhere({ mailbox: MAILBOX, connect: place, signal, openChannel })).rejects.toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: expect.stringContaining(`127.0.0.1:${place.port}`),
    });
  });

  it('is RENDEZVOUS_BUSY when its mailbox is full', async () => {
    await rendezvous.close();
    await listener.close();
    serve({ guests: 1 });
    await meet();
    await expect(joinAnywhere({ mailbox: MAILBOX, connect: place, signal, openChannel })).rejects.toMatchObject({
      code: 'RENDEZVOUS_BUSY',
    });
  });
});

async function listenSilently(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function addressOf(server: Server): { host: string; port: number } {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('bug: not a TCP server');
  return { host: '127.0.0.1', port: address.port };
}

// SPDX-License-Identifier: MPL-2.0
import { Socket } from 'node:net';
import { joinMailbox, type MailboxState, ownMailbox } from '@keibidrop/discovery';
import { Listener } from '@keibidrop/native';
import { type Conversation, mailboxOf, type Owner, parseCode } from '@keibidrop/protocol';
import { RendezvousServer } from '@keibidrop/server';
import { meetAsGuest, meetAsOwner, openGrpcChannel as openChannel } from '@keibidrop/session';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// A mailbox whose owner is also remote: discovery's owner and guest, and the gRPC server between them.

const CODE = parseCode('7-guitar-pencil');
const MAILBOX = mailboxOf(CODE.nameplate);
const { signal } = new AbortController();
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

let rendezvous: RendezvousServer;
let listener: Listener;
let place: { host: string; port: number };
const owners: Owner[] = [];

function serve(port = 0): void {
  rendezvous = new RendezvousServer({ limits: { mailboxes: 2, guests: 8 } });
  listener = Listener.open({
    host: '127.0.0.1',
    port,
    onConnection: ({ fd }) => rendezvous.attach(new Socket({ fd, readable: true, writable: true })),
  });
  place = { host: '127.0.0.1', port: listener.port };
}

async function stop(): Promise<void> {
  await rendezvous.close();
  await listener.close();
}

beforeEach(() => serve());
afterEach(async () => {
  for (const owner of owners.splice(0)) owner.close();
  await stop();
});

/** Owns the mailbox and records every state in order. */
async function own(at = place, mailbox = MAILBOX) {
  const states = new States();
  const owner = await ownMailbox(at, mailbox, { openChannel, signal, onState: (state) => states.add(state) });
  owners.push(owner);
  return { owner, states, guests: owner[Symbol.asyncIterator]() };
}

class States {
  readonly all: MailboxState['kind'][] = [];
  #wake = () => {};

  add({ kind }: MailboxState): void {
    this.all.push(kind);
    this.#wake();
  }

  async until(count: number): Promise<MailboxState['kind'][]> {
    while (this.all.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.all;
  }
}

const join = () => joinMailbox(place, MAILBOX, { signal, openChannel });

describe('the owner of a mailbox at a server', () => {
  it('meets guests by the code, each in its own conversation', async () => {
    const { guests, states } = await own();
    expect(states.all).toEqual(['open']);
    for (const _ of [1, 2]) {
      const guest = await join();
      const asGuest = meetAsGuest(guest, CODE, { signal });
      const { value } = (await guests.next()) as { value: Conversation };
      const asOwner = await meetAsOwner(value, CODE, { signal });
      expect((await asGuest).attempt).toEqual(asOwner.attempt);
      guest.close();
      await expect(value.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    }
  });

  it('delivers its last message before it dismisses a guest', async () => {
    const { guests } = await own();
    const guest = await join();
    await guest.send(Buffer.from('hello'));
    const { value } = (await guests.next()) as { value: Conversation };
    expect(text(await value.receive({ signal }))).toBe('hello');
    void value.send(Buffer.from('good'));
    void value.send(Buffer.from('bye'));
    value.close();
    value.close();
    expect(text(await guest.receive({ signal }))).toBe('good');
    expect(text(await guest.receive({ signal }))).toBe('bye');
    await expect(guest.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    await expect(value.send(Buffer.from('late'))).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  });

  it('ends the conversation of a guest that sends too much, and no other', async () => {
    const { guests } = await own();
    const [quiet, loud] = [await join(), await join()];
    await quiet.send(Buffer.from('quiet'));
    const { value: first } = (await guests.next()) as { value: Conversation };
    // The server buffers as many as the owner does; this exceeds both together.
    for (let count = 0; count < 64; count++) await loud.send(Buffer.from(`${count}`)).catch(() => {});
    await expect(loud.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    await first.send(Buffer.from('still here'));
    expect(text(await quiet.receive({ signal }))).toBe('still here');
  });

  it('is refused a mailbox that another owner has, and gets a different one', async () => {
    await own();
    await expect(own()).rejects.toMatchObject({ code: 'RENDEZVOUS_BUSY', detail: { taken: true } });
    await own(place, mailboxOf('8'));
  });

  it('frees the mailbox when it closes', async () => {
    const { owner, guests } = await own();
    owner.close();
    owner.close();
    expect(await guests.next()).toEqual({ done: true, value: undefined });
    for (;;) {
      // The server notices a moment later.
      const again = await own().catch((reason) => reason);
      if (!(again instanceof Error)) break;
      expect(again).toMatchObject({ code: 'RENDEZVOUS_BUSY' });
    }
  });

  it('returns to a server that was down, reports both, and is found there again', async () => {
    const { guests, states } = await own();
    const guest = await join();
    await guest.send(Buffer.from('hello'));
    const { value } = (await guests.next()) as { value: Conversation };
    await value.receive({ signal });
    await stop();
    await expect(value.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    await states.until(2);
    serve(place.port);
    expect(await states.until(3)).toEqual(['open', 'lost', 'open']);
    const later = await join();
    await later.send(Buffer.from('again'));
    const next = (await guests.next()) as { value: Conversation };
    expect(text(await next.value.receive({ signal }))).toBe('again');
  });

  it('retries a server that was down at first, and reports the loss once', async () => {
    await stop();
    const { states } = await own();
    expect(states.all).toEqual(['lost']);
    serve(place.port);
    expect(await states.until(2)).toEqual(['lost', 'open']);
  });

  it('retries while the server holds the mailbox for another owner, even for its own former connection', async () => {
    const { states } = await own();
    await stop();
    await states.until(2);
    serve(place.port);
    const other = rendezvous.own(MAILBOX);
    expect(await states.until(3)).toEqual(['open', 'lost', 'lost']);
    other.close();
    expect(await states.until(4)).toEqual(['open', 'lost', 'lost', 'open']);
  });

  it('stops with the abort at any point', async () => {
    await stop();
    const controller = new AbortController();
    const reason = new Error('enough');
    const reported: string[] = [];
    const options = {
      openChannel,
      signal: controller.signal,
      onState: ({ kind }: MailboxState) => void reported.push(kind),
    };
    const owner = await ownMailbox(place, MAILBOX, options);
    const waiting = owner[Symbol.asyncIterator]().next();
    controller.abort(reason);
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(reported).toEqual(['lost']);
    await expect(ownMailbox(place, MAILBOX, options)).rejects.toBe(reason);
  });
});

// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Conversation, KeibiError, MessagePipe } from '@keibidrop/protocol';
import { openRelayServer, type RelayServer } from '@keibidrop/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContactEndpoint, type ContactEndpointOptions, type Place } from '../src/contact-endpoint.ts';

// Two endpoints on one machine, and a rendezvous. The use of the conversations is not tested here.

const OURS = 'aa'.repeat(32);
const THEIRS = 'bb'.repeat(32);
const LISTEN = { host: '127.0.0.1', port: 0, orAnyPort: true };
const { signal } = new AbortController();

let directory: string;
let runtime: string | undefined;
let endpoints: ContactEndpoint[];
let servers: RelayServer[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-contact-'));
  runtime = process.env.XDG_RUNTIME_DIR;
  process.env.XDG_RUNTIME_DIR = directory;
  endpoints = [];
  servers = [];
});
afterEach(async () => {
  await Promise.all(endpoints.map((endpoint) => endpoint.close()));
  await Promise.all(servers.map((server) => server.close()));
  if (runtime === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = runtime;
  await rm(directory, { recursive: true });
});

/** The events of an endpoint, each kind in order. */
class Log<T> {
  readonly all: T[] = [];
  #wake = () => {};

  add(item: T): void {
    this.all.push(item);
    this.#wake();
  }

  async until(matches: (item: T) => boolean): Promise<T> {
    for (;;) {
      const found = this.all.findIndex(matches);
      if (found >= 0) return this.all[found] as T;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function open(reach: Partial<ContactEndpointOptions['reach']> = {}, { visits = false } = {}) {
  const guests = new Log<{ mailbox: string; conversation: Conversation }>();
  const places = new Log<Place & { mailbox: string; fresh: boolean }>();
  const line = new Log<KeibiError | undefined>();
  const endpoint = new ContactEndpoint({
    listen: visits ? undefined : LISTEN,
    reach: { rendezvous: undefined, discovery: 'off', directOnly: false, relayOnly: false, ...reach },
    onGuest: (mailbox, conversation) => guests.add({ mailbox, conversation }),
    onPlace: (mailbox, place, fresh) => places.add({ mailbox, ...place, fresh }),
    onRendezvous: (_address, lost) => line.add(lost),
    signal,
  });
  endpoints.push(endpoint);
  return { endpoint, guests, places, line };
}

async function serve(port = 0): Promise<string> {
  const log = { level: 'silent', write: () => {} } as const;
  const server = await openRelayServer({ listen: { host: '127.0.0.1', port }, log, signal });
  servers.push(server);
  return `127.0.0.1:${server.port}`;
}

const anything = () => true;
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** Sends one message in each direction. */
async function talk(pipe: MessagePipe, guests: Log<{ conversation: Conversation }>): Promise<void> {
  await pipe.send(Buffer.from('knock'));
  const { conversation } = await guests.until(anything);
  expect(text(await conversation.receive({ signal }))).toBe('knock');
  await conversation.send(Buffer.from('come in'));
  expect(text(await pipe.receive({ signal }))).toBe('come in');
  pipe.close();
}

describe('two endpoints', () => {
  it('find one another on this machine, whichever starts first', async () => {
    const [one, other] = [open(), open()];
    await one.endpoint.serve([OURS], [THEIRS]);
    await other.endpoint.serve([THEIRS], [OURS]);
    const place = await other.places.until(anything);
    expect(place).toMatchObject({ mailbox: OURS, transport: 'local', fresh: false });
    await talk(await other.endpoint.join(OURS, place, { signal }), one.guests);
    const back = await one.places.until(anything);
    expect(back).toMatchObject({ mailbox: THEIRS, transport: 'local' });
    await talk(await one.endpoint.join(THEIRS, back, { signal }), other.guests);
  });

  it('meet at a rendezvous alone, over one connection each for all their mailboxes', async () => {
    const rendezvous = await serve();
    const mailboxes = (digit: string) =>
      Array.from({ length: 200 }, (_, i) => digit + i.toString(16).padStart(63, '0'));
    const [one, other] = [open({ rendezvous, relayOnly: true }), open({ rendezvous, relayOnly: true })];
    await Promise.all([
      one.endpoint.serve(mailboxes('a'), mailboxes('b')),
      other.endpoint.serve(mailboxes('b'), mailboxes('a')),
    ]);
    await Promise.all([one.line.until((lost) => lost === undefined), other.line.until((lost) => lost === undefined)]);
    expect(servers[0]?.stats().rendezvous).toMatchObject({ connections: 2, guessesRefused: 0 });
    const [last] = mailboxes('a').slice(-1) as [string];
    const place = await other.places.until(({ mailbox }) => mailbox === last);
    expect(place).toMatchObject({ transport: 'rendezvous', fresh: true });
    await talk(await other.endpoint.join(last, place, { signal }), one.guests);
    await expect(other.endpoint.join('cc'.repeat(32), place, { signal })).rejects.toMatchObject({
      code: 'RENDEZVOUS_NOT_FOUND',
    });
  });

  it('return to a rendezvous that was down, and report both', async () => {
    const rendezvous = await serve();
    const [one, other] = [open({ rendezvous }), open({ rendezvous, relayOnly: true }, { visits: true })];
    await one.endpoint.serve([OURS], []);
    await other.endpoint.serve([], [OURS]);
    await Promise.all([one.line.until((lost) => lost === undefined), other.places.until(anything)]);
    await servers.pop()?.close();
    for (const { line } of [one, other]) await line.until((lost) => lost?.code === 'RENDEZVOUS_UNREACHABLE');
    const again = other.places.all.length;
    await serve(Number(rendezvous.split(':')[1]));
    for (const { line } of [one, other]) await line.until(() => line.all.length === 3);
    await other.places.until(() => other.places.all.length > again);
    const place = other.places.all.at(-1) as Place;
    await talk(await other.endpoint.join(OURS, place, { signal }), one.guests);
  });

  it('withdraw their announcements when they close', async () => {
    const [one, other] = [open(), open()];
    await one.endpoint.serve([OURS], []);
    await one.endpoint.close();
    await other.endpoint.serve([], [OURS]);
    const place = { transport: 'local', host: '127.0.0.1', port: one.endpoint.listening?.port ?? 0 } as const;
    await expect(other.endpoint.join(OURS, place, { signal })).rejects.toMatchObject({
      code: 'RENDEZVOUS_UNREACHABLE',
    });
    expect(other.places.all).toEqual([]);
  });
});

describe('a visitor', () => {
  it('cannot be visited', async () => {
    const [visitor, other] = [open({}, { visits: true }), open()];
    await visitor.endpoint.serve([], [THEIRS]);
    expect(visitor.endpoint.listening).toBeUndefined();
    await other.endpoint.serve([THEIRS], [OURS]);
    await talk(await visitor.endpoint.join(THEIRS, await visitor.places.until(anything), { signal }), other.guests);
    expect(other.places.all).toEqual([]);
  });
});

// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ownMailbox } from '../../packages/discovery/src/index.ts';
import { type Conversation, MAX_MAILBOX_BODY_BYTES, type Owner } from '../../packages/protocol/src/index.ts';
import { openGrpcChannel, serveDuplex } from '../../packages/session/src/control/grpc-duplex.ts';
import { type JoinRequest, type Opened, type RendezvousServer, RendezvousService } from '../../proto/index.ts';

// A hostile rendezvous server: an owner keeps its limits and its other guests.

const { signal } = new AbortController();
const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

type Call = Parameters<RendezvousServer['join']>[0];

/** The guests that an owner has dismissed, in order. */
class Dismissed {
  readonly #guests: number[] = [];
  #wake = () => {};

  add(guest: number): void {
    this.#guests.push(guest);
    this.#wake();
  }

  async until(count: number): Promise<number[]> {
    while (this.#guests.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#guests;
  }
}

const OPENED = { host: '', port: 0, relay: false, relayHost: '', relayPort: 0, shared: false };

/** An owner at a server that behaves like `behave`; `dismissed` lists the guests that the owner has dismissed. */
async function ownAt(behave: (call: Call) => void, opened: Partial<Opened> = {}, host = '127.0.0.1') {
  const dismissed = new Dismissed();
  const join = (call: Call) => {
    call.on('data', ({ kind }: JoinRequest) => {
      if (kind?.$case === 'dismiss') dismissed.add(kind.value.guest);
      if (kind?.$case !== 'open') return;
      call.write({ kind: { $case: 'opened', value: { ...OPENED, ...opened } } });
      behave(call);
    });
  };
  const stops: (() => void)[] = [];
  const listener = createServer((socket) => {
    stops.push(
      serveDuplex(
        socket.on('error', () => {}),
        [{ definition: RendezvousService, handlers: { join } }],
      ),
    );
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  let owner: Owner | undefined;
  closings.push(() => {
    owner?.close();
    for (const stop of stops) stop();
    listener.close();
  });
  const states: object[] = [];
  owner = await ownMailbox({ host, port }, 'ab'.repeat(32), {
    openChannel: openGrpcChannel,
    signal,
    onState: (state) => void states.push(state),
  });
  return { guests: owner[Symbol.asyncIterator](), dismissed, states };
}

const say = (call: Call, guest: number, body: Uint8Array) =>
  call.write({ kind: { $case: 'body', value: { guest, body } } });

async function nextOf(guests: AsyncIterator<Conversation>): Promise<Conversation> {
  return ((await guests.next()) as { value: Conversation }).value;
}

describe('an owner at a hostile rendezvous', () => {
  it('dismisses guests beyond its limit, and keeps the others', async () => {
    const { guests, dismissed } = await ownAt((call) => {
      for (let guest = 1; guest <= 100; guest++) say(call, guest, Buffer.of(guest));
      say(call, 1, Buffer.from('last'));
    });
    const first = await nextOf(guests);
    await first.receive({ signal });
    expect(String(await first.receive({ signal }))).toBe('last');
    expect(await dismissed.until(36)).toEqual(Array.from({ length: 36 }, (_, i) => 65 + i));
  });

  it('ends a conversation with an oversized body, or with too many bodies', async () => {
    const { guests, dismissed } = await ownAt((call) => {
      say(call, 1, new Uint8Array(MAX_MAILBOX_BODY_BYTES + 1));
      for (let count = 0; count < 17; count++) say(call, 2, Buffer.of(count));
      say(call, 3, Buffer.from('honest'));
    });
    const flooded = await nextOf(guests);
    expect(String(await (await nextOf(guests)).receive({ signal }))).toBe('honest');
    expect(await dismissed.until(2)).toEqual([1, 2]);
    for (let count = 0; count < 16; count++) expect(await flooded.receive({ signal })).toEqual(Buffer.of(count));
    await expect(flooded.receive({ signal })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  });

  it('uses an observed address only if it is valid', async () => {
    for (const [host, observed] of [
      ['203.0.113.7', '203.0.113.7'],
      ['evil.example.org', undefined],
      ['', undefined],
    ]) {
      const { states } = await ownAt(() => {}, { host: host as string, port: 9, relay: true });
      const seen = observed === undefined ? undefined : { host: observed, port: 9 };
      expect(states).toMatchObject([{ kind: 'open', observed: seen, relay: { own: { host: '127.0.0.1' } } }]);
    }
  });

  it.each([
    ['at the name it was given', {}, { own: { host: '127.0.0.1' }, guests: { host: 'localhost' } }],
    ['at the address it reached, if servers share the name', { shared: true }, { guests: { host: '127.0.0.1' } }],
    [
      'at the place that the server names',
      { shared: true, relayHost: '127.0.0.9', relayPort: 9 },
      { own: { host: '127.0.0.9', port: 9 }, guests: { host: '127.0.0.9', port: 9 } },
    ],
    ['not at all if the host is invalid', { relayHost: '-v\n', relayPort: 9 }, undefined],
    ['not at all if the port is invalid', { relayHost: '127.0.0.9', relayPort: 0 }, undefined],
    ['not at all without a relay', { relay: false, relayHost: '127.0.0.9', relayPort: 9 }, undefined],
  ])('announces a relay to guests %s', async (_where, opened, relay) => {
    const { states } = await ownAt(() => {}, { relay: true, ...opened }, 'localhost');
    expect(states).toMatchObject([{ kind: 'open', relay }]);
  });
});

// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Listener } from '@keibidrop/native';
import { mailboxOf } from '@keibidrop/protocol';
import { type RendezvousOptions, RendezvousServer } from '@keibidrop/server';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SendOptions } from '../src/api.ts';
import type { PeerEvent } from '../src/events.ts';
import { send } from '../src/send/send.ts';

const LOCAL = 999;
const TAKEN = 3;

let rendezvous: RendezvousServer;
let listener: Listener;
let runtime: string;

beforeEach(async () => {
  runtime = await mkdtemp(join(tmpdir(), 'keibidrop-nameplate-'));
  vi.stubEnv('XDG_RUNTIME_DIR', runtime);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rendezvous.close();
  await listener.close();
  await rm(runtime, { recursive: true });
});

function serve(options: RendezvousOptions): void {
  rendezvous = new RendezvousServer(options);
  listener = Listener.open({
    host: '127.0.0.1',
    port: 0,
    onConnection: ({ fd }) => rendezvous.attach(new Socket({ fd, readable: true, writable: true })),
  });
}

/** The events of a sender without a code of its own until it waits; `public`: also at the rendezvous. */
async function started({ public: at = true } = {}): Promise<PeerEvent[]> {
  const ending = new AbortController();
  const events: PeerEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    const rendezvousPlace = at ? `127.0.0.1:${listener.port}` : undefined;
    const options: SendOptions = {
      paths: [],
      text: 'hello',
      listen: { host: '127.0.0.1', port: 0, orAnyPort: true },
      receivers: 1,
      reach: { rendezvous: rendezvousPlace, discovery: 'off', directOnly: false, relayOnly: false },
      label: 'sender',
      signal: ending.signal,
      onEvent: (event) => {
        events.push(event);
        if (event.type === (at ? 'rendezvous' : 'waiting')) resolve();
      },
    };
    send(options).catch(reject);
  });
  ending.abort(new Error('enough'));
  return events;
}

function nameplateIn(events: PeerEvent[]): string | undefined {
  return events.flatMap((event) => (event.type === 'code' ? event.code.split('-')[0] : []))[0];
}

it('draws another number by itself while others have those it drew', async () => {
  const drawn: string[] = [];
  serve({
    limits: { mailboxes: TAKEN + 1 },
    share: (local) => ({
      own(mailbox, network, owner) {
        drawn.push(mailbox);
        if (drawn.length <= TAKEN) local.own(mailbox);
        return local.own(mailbox, network, owner);
      },
      join: (mailbox, network) => local.join(mailbox, network),
    }),
  });
  const nameplate = nameplateIn(await started());
  expect(drawn).toHaveLength(TAKEN + 1);
  expect(new Set(drawn).size).toBe(TAKEN + 1);
  expect(mailboxOf(nameplate ?? '')).toBe(drawn.at(-1));
});

it('draws longer numbers for a public rendezvous, which has many senders, than for this machine', async () => {
  serve({ limits: { mailboxes: 40 } });
  const numbers: number[] = [];
  for (let count = 0; count < 20; count++) numbers.push(Number(nameplateIn(await started())));
  // All twenty are short by chance with a probability below 10^-40.
  expect(Math.max(...numbers)).toBeGreaterThan(LOCAL);
  expect(Number(nameplateIn(await started({ public: false })))).toBeLessThanOrEqual(LOCAL);
});

it('waits without a rendezvous that has no room, and says so', async () => {
  serve({ limits: { mailboxes: 0 } });
  const events = await started();
  expect(events.map(({ type }) => type)).toEqual(['code', 'waiting', 'rendezvous']);
  expect(events.at(-1)).toMatchObject({ state: 'lost', message: expect.stringMatching(/no room/) });
});

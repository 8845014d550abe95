// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Listener } from '@keibidrop/native';
import { mailboxOf } from '@keibidrop/protocol';
import { RendezvousServer } from '@keibidrop/server';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SendOptions } from '../src/api.ts';
import { send } from '../src/send.ts';

const SHORT = 999;

let rendezvous: RendezvousServer;
let listener: Listener;
let runtime: string;

beforeEach(async () => {
  runtime = await mkdtemp(join(tmpdir(), 'keibidrop-nameplate-'));
  vi.stubEnv('XDG_RUNTIME_DIR', runtime);
  rendezvous = new RendezvousServer({ limits: { mailboxes: SHORT + 1 } });
  listener = Listener.open({
    host: '127.0.0.1',
    port: 0,
    onConnection: ({ fd }) => rendezvous.attach(new Socket({ fd, readable: true, writable: true })),
  });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rendezvous.close();
  await listener.close();
  await rm(runtime, { recursive: true });
});

/** The nameplate of the code that a sender draws which waits at the rendezvous. */
async function drawn(): Promise<number> {
  const ending = new AbortController();
  const code = await new Promise<string>((resolve, reject) => {
    const options: SendOptions = {
      paths: [],
      text: 'hello',
      listen: { host: '127.0.0.1', port: 0, orAnyPort: true },
      receivers: 1,
      reach: { rendezvous: `127.0.0.1:${listener.port}`, discovery: 'off', directOnly: false, relayOnly: false },
      label: 'sender',
      signal: ending.signal,
      onEvent: (event) => event.type === 'code' && resolve(event.code),
    };
    send(options).catch(reject);
  });
  ending.abort(new Error('enough'));
  return Number(code.split('-')[0]);
}

it('draws a code whose number is free at the rendezvous, with more digits where short ones are rare', async () => {
  const free = 1 + Math.floor(Math.random() * SHORT);
  for (let taken = 1; taken <= SHORT; taken++) if (taken !== free) rendezvous.own(mailboxOf(`${taken}`));
  const nameplate = await drawn();
  expect(nameplate === free || nameplate > SHORT).toBe(true);
});

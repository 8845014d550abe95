// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { ownMailbox } from '@keibidrop/discovery';
import { Listener } from '@keibidrop/native';
import { type Candidate, mailboxOf, parseCode } from '@keibidrop/protocol';
import { RendezvousServer } from '@keibidrop/server';
import { CandidateExchange, meetAsOwner, openGrpcChannel as openChannel } from '@keibidrop/session';
import { afterEach, expect, it } from 'vitest';
import { findSender } from '../src/meeting/find-sender.ts';

// The candidates that a receiver reveals to a sender that knows the code, and the sender's candidates that it dials.

const CODE = parseCode('7-guitar-pencil');
const { signal } = new AbortController();
const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

/** A rendezvous on loopback. */
function serve(): { host: string; port: number } {
  const rendezvous = new RendezvousServer({ limits: { mailboxes: 1, guests: 8 } });
  const listener = Listener.open({
    host: '127.0.0.1',
    port: 0,
    onConnection: ({ fd }) => rendezvous.attach(new Socket({ fd, readable: true, writable: true })),
  });
  closings.push(
    () => listener.close(),
    () => rendezvous.close(),
  );
  return { host: '127.0.0.1', port: listener.port };
}

/** Counts connections. */
async function trap(host: string): Promise<{ port: number; visits(): number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.destroy();
  }).listen(0, host);
  await once(server, 'listening');
  closings.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, visits: () => visits };
}

/** A sender that names arbitrary candidates. Resolves with the receiver's candidates, and the result of its search. */
async function meetOneThatNames(candidates: Candidate[], relayOnly: boolean) {
  const place = serve();
  const owner = await ownMailbox(place, mailboxOf(CODE.nameplate), { openChannel, signal, onState: () => {} });
  closings.push(() => owner.close());
  const heard = (async () => {
    for await (const conversation of owner) {
      const meeting = await meetAsOwner(conversation, CODE, { signal });
      const exchange = new CandidateExchange(conversation, meeting, 'owner');
      await exchange.send(candidates);
      return exchange.receive({ signal });
    }
    return undefined;
  })();
  const rendezvous = `${place.host}:${place.port}`;
  const reach = { rendezvous, discovery: 'off' as const, directOnly: false, relayOnly };
  const failure = await findSender({ code: CODE, reach, signal, onEvent: () => {} }).catch((reason) => reason);
  return { named: await heard, failure };
}

const token = '00'.repeat(32);

it('dials no name and no address that no peer can have, and lists them as failed', async () => {
  const here = await trap('127.0.0.1');
  const strange: Candidate[] = [
    { transport: 'direct', host: '224.0.0.1', port: 80 },
    { transport: 'mapped', host: 'localhost', port: 80 },
    { transport: 'direct', host: '0.0.0.0', port: here.port },
    { transport: 'relay', host: '::ffff:0.0.0.0', port: here.port, token },
  ];
  const { failure } = await meetOneThatNames(strange, false);
  expect(failure).toMatchObject({ code: 'PEER_UNREACHABLE' });
  const tried = failure.detail.attempts as { transport: string; address: string; error: Error }[];
  expect(tried.map(({ transport, address }) => `${transport} ${address}`)).toEqual([
    'direct 224.0.0.1:80',
    'mapped localhost:80',
    `direct 0.0.0.0:${here.port}`,
    `relay [::ffff:0.0.0.0]:${here.port}`,
  ]);
  expect(here.visits()).toBe(0);
  for (const { error } of tried) expect(error.message).toMatch(/^It is not dialled: /);
});

it('shows its address only to the rendezvous with --relay-only', async () => {
  const own = await trap('127.0.0.1');
  const foreign = await trap('127.0.0.2');
  const names: Candidate[] = [
    { transport: 'direct', host: '127.0.0.1', port: own.port },
    { transport: 'punched', host: '127.0.0.1', port: own.port },
    // A "relay" of the sender's own would show it the address of the guest.
    { transport: 'relay', host: '127.0.0.2', port: foreign.port, token },
    { transport: 'relay', host: 'localhost', port: own.port, token },
  ];
  const { named, failure } = await meetOneThatNames(names, true);
  expect(named).toEqual([]);
  expect(failure).toMatchObject({ code: 'PEER_UNREACHABLE' });
  expect([own.visits(), foreign.visits()]).toEqual([0, 0]);
});

it('dials a relay at the host of the rendezvous with --relay-only', async () => {
  const relay = await trap('127.0.0.1');
  await meetOneThatNames([{ transport: 'relay', host: '127.0.0.1', port: relay.port, token }], true);
  expect(relay.visits()).toBe(1);
});

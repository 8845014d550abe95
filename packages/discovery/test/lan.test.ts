// SPDX-License-Identifier: MPL-2.0
import { randomBytes, randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { getEventListeners, once } from 'node:events';
import createMdns, { type MulticastDNS, type QueryPacket, type ResponsePacket } from 'multicast-dns';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { announceOnLan, createLanTransport, type LanSighting, sendersOnLan, tryMulticast } from '../src/index.ts';
import { LanLink } from '../src/lan/lan-link.ts';
import { type LanNetwork, lanNetworks } from '../src/lan/lan-networks.ts';
import { createOffer, recordsOf } from '../src/lan/lan-records.ts';

// Multicast on the loopback interface, which it never leaves, on a port used only by this test.

const MAILBOX = 'ab'.repeat(32);
const LISTENING = { host: '127.0.0.1', port: 26431 };
const QUESTION = { questions: [{ name: '_keibidrop._tcp.local', type: 'PTR' as const }] };
const { signal } = new AbortController();

let options: { discovery: { interface: string }; port: number; lookMs: number; answerIntervalMs: number };
/** Another program on the same network. */
let other: MulticastDNS;
let responses: ResponsePacket[];

beforeEach(async () => {
  options = { discovery: { interface: 'lo' }, port: randomInt(30_000, 60_000), lookMs: 200, answerIntervalMs: 10 };
  other = createMdns({ port: options.port, interface: '127.0.0.1', bind: '0.0.0.0' });
  responses = [];
  other.on('response', (response: ResponsePacket) => responses.push(response));
  await once(other, 'ready');
});
afterEach(async () => {
  await new Promise<void>((resolve) => other.destroy(resolve));
});

async function heard(more: Partial<typeof options> = {}): Promise<LanSighting[]> {
  const sightings: LanSighting[] = [];
  for await (const sighting of sendersOnLan({ ...options, ...more, signal })) sightings.push(sighting);
  return sightings;
}

async function found(mailbox: string): Promise<number[]> {
  const ports: number[] = [];
  for await (const { port } of createLanTransport(options).find(mailbox, { signal })) ports.push(port);
  return ports;
}

async function response(matches: (response: ResponsePacket) => boolean): Promise<ResponsePacket> {
  for (;;) {
    const there = responses.find(matches);
    if (there) return there;
    await once(other, 'response');
  }
}

const isGoodbye = ({ answers }: ResponsePacket) =>
  (answers ?? []).every((answer) => 'ttl' in answer && answer.ttl === 0);

/** Sends raw datagrams to the group. */
async function multicast(...datagrams: Uint8Array[]): Promise<void> {
  const socket: Socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  socket.setMulticastInterface('127.0.0.1');
  for (const datagram of datagrams) {
    await new Promise<void>((resolve) => socket.send(datagram, options.port, '224.0.0.251', () => resolve()));
  }
  socket.close();
}

describe('a sender on the network', () => {
  it('is found by its mailbox and listed by its name, until it is withdrawn', async () => {
    const withdraw = announceOnLan(MAILBOX, LISTENING, options);
    expect(await found(MAILBOX)).toEqual([26431]);
    expect(await found('cd'.repeat(32))).toEqual([]);
    expect(await heard()).toEqual([{ name: expect.stringMatching(/^[0-9a-f]{16}$/), ...LISTENING }]);
    await withdraw();
    expect(await heard()).toEqual([]);
  });

  it('sends a goodbye when it is withdrawn, so that others drop it at once', async () => {
    const withdraw = announceOnLan(MAILBOX, LISTENING, options);
    await response((each) => !isGoodbye(each));
    await withdraw();
    const { answers } = await response(isGoodbye);
    expect(answers?.map(({ type }) => type)).toEqual(['PTR', 'SRV', 'TXT', 'A']);
  });

  it('answers once per interval, for any number of questions and packets', async () => {
    const withdraw = announceOnLan(MAILBOX, LISTENING, { ...options, answerIntervalMs: 60_000 });
    await response((each) => !isGoodbye(each));
    const questions: QueryPacket['questions'] = Array(200).fill(QUESTION.questions[0]);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => other.query({ questions }, () => resolve(undefined)));
    await withdraw();
    await response(isGoodbye);
    expect(responses.filter((each) => !isGoodbye(each))).toHaveLength(1);
  });

  it('is not announced where it cannot be reached', async () => {
    const withdraw = announceOnLan(MAILBOX, { host: '192.0.2.1', port: 26431 }, options);
    expect(await heard()).toEqual([]);
    await withdraw();
    expect(responses).toEqual([]);
  });

  it('is not announced at all if discovery is off', async () => {
    await announceOnLan(MAILBOX, LISTENING, { ...options, discovery: 'off' })();
    expect(responses).toEqual([]);
  });
});

describe('a search of the network', () => {
  it('continues through garbage and foreign packets', async () => {
    const withdraw = announceOnLan(MAILBOX, LISTENING, options);
    const look = found(MAILBOX);
    // A response that claims 65535 answers, a name that points at itself, an empty packet, and random bytes.
    const liar = Buffer.from([0, 0, 0x84, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0]);
    const loop = Buffer.from([
      0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0xc0, 12, 0, 12, 0, 1, 0, 0, 0, 9, 0, 2, 0xc0, 12,
    ]);
    await multicast(liar, loop, Buffer.alloc(0), ...Array.from({ length: 300 }, () => randomBytes(randomInt(1, 1400))));
    expect(await look).toEqual([26431]);
    await withdraw();
  });

  it('remembers a bounded number of senders, and of addresses of one mailbox', async () => {
    const flood = async (most: number, mailbox: () => string) => {
      for (let i = 0; i < most; i++) {
        const answers = recordsOf(createOffer(mailbox(), 1 + i), '127.0.0.1', false);
        await new Promise((resolve) => other.respond({ answers }, () => resolve(undefined)));
      }
    };
    const listing = heard({ lookMs: 1000 });
    await once(other, 'query');
    await flood(400, () => randomBytes(32).toString('hex'));
    expect((await listing).length).toBeLessThanOrEqual(256);
    const finding = found(MAILBOX);
    await once(other, 'query');
    await flood(20, () => MAILBOX);
    expect(await finding).toHaveLength(8);
  });

  it('ends at once if there is no network', async () => {
    expect(await heard({ lookMs: 60_000, discovery: { interface: 'none-such' } })).toEqual([]);
  });

  it('ends with the reason of an abort and leaves no listener', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const look = createLanTransport({ ...options, lookMs: 60_000 }).find(MAILBOX, { signal: controller.signal });
    const first = look[Symbol.asyncIterator]().next();
    await once(other, 'query');
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});

it('a link accepts packets only from its own network', async () => {
  const [network] = lanNetworks(options.discovery);
  if (network === undefined) throw new Error('there is no loopback interface');
  const hosts: string[] = [];
  const link = (contains: LanNetwork['contains'], name: string) =>
    LanLink.open(
      { ...network, contains },
      { port: options.port, onResponse: (_, from) => hosts.push(`${name} ${from}`) },
    );
  const links = [await link(() => false, 'deaf'), await link((from) => from === '127.0.0.1', 'hears')];
  for (let i = 0; i < 2; i++) {
    const answers = recordsOf(createOffer(MAILBOX, 1), '127.0.0.1', false);
    await new Promise((resolve) => other.respond({ answers }, () => resolve(undefined)));
  }
  await expect.poll(() => hosts).toEqual(['hears 127.0.0.1', 'hears 127.0.0.1']);
  for (const each of links) await each.close();
});

it('tryMulticast reports a network that loops packets back as working', async () => {
  expect(await tryMulticast({ interface: 'lo' }, options.port)).toEqual([{ interface: 'lo', family: 4, works: true }]);
  expect(await tryMulticast({ interface: 'none-such' }, options.port)).toEqual([]);
});

// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HAS_REDIS, Redis } from '../harness/redis.ts';
import { Sandbox } from '../harness/sandbox.ts';
import { holdMailbox, RelayClients } from './relay-clients.ts';

const MIB = 1024 * 1024;
const MAILBOXES = 2000;
const PAIRS = 200;
/** The memory limit of the whole process. */
const MOST_RSS_BYTES = 300 * MIB;
/** More than the number of undecided connections that a relay keeps. */
const SILENT = 300;

let sandbox: Sandbox;
let clients: RelayClients;
let pid: number;
beforeEach(async () => {
  sandbox = await Sandbox.open();
});
async function serve(...args: string[]): Promise<void> {
  const relay = await sandbox.start(['relay', '--json', '--quiet', '--listen', '127.0.0.1:0', ...args]);
  const { port } = await relay.until('listening');
  clients = new RelayClients(port as number);
  pid = relay.pid;
}
afterEach(async () => {
  clients.close();
  await sandbox.close();
});

/** Peak resident memory of the process, in bytes. */
function peakBytes(): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${clients.port}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

async function isLoaded(): Promise<void> {
  await clients.many(MAILBOXES, (index) => holdMailbox(clients, index));
  expect(await metric('keibidrop_mailboxes')).toBe(MAILBOXES);

  const pairs = await clients.many(PAIRS, (index) => clients.pair(index));
  expect(await metric('keibidrop_relay_pairs')).toBe(PAIRS);
  const sent = randomBytes(MIB);
  await Promise.all(
    pairs.map(async ([one, other]) => {
      one.socket.end(sent);
      other.socket.end(sent);
      expect((await other.rest()).equals(sent)).toBe(true);
      expect((await one.rest()).equals(sent)).toBe(true);
    }),
  );
  expect(await metric('keibidrop_relay_bytes_total')).toBe(2 * PAIRS * MIB);
  expect(await metric('keibidrop_mailboxes')).toBe(MAILBOXES);
  expect(peakBytes()).toBeLessThan(MOST_RSS_BYTES);
}

it('holds 2000 mailboxes and relays 200 pairs at once within 300 MiB', async () => {
  await serve();
  await isLoaded();
});

it.skipIf(!HAS_REDIS)('does so with shared mailboxes, too (needs redis-server)', async () => {
  const redis = await Redis.start(sandbox);
  await serve('--redis', redis.url);
  await isLoaded();
  expect(await redis.ask('DBSIZE')).toBe(`:${MAILBOXES}\r\n`);
});

it('drops connections that are not from peers, with a named reason, and without effect on peers', async () => {
  await serve();
  const [one, other] = await clients.pair(1);
  const waiting = await clients.show(2);
  await holdMailbox(clients, 0);

  const silent = await clients.many(SILENT, () => clients.dial('KEIBI-'));
  await silent[0]?.closed();
  const hostile = [
    'garbage in',
    `KEIBI-L1${'x'.repeat(100)}`,
    `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
    `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'\xff'.repeat(1000)}`,
    'KEIBI-C1 and a handshake with nobody',
  ];
  for (const bytes of hostile) {
    await (await clients.dial(bytes)).closed();
  }
  const early = await clients.show(3);
  early.socket.write('before the answer');
  await early.closed();
  const halfOpen = await clients.show(4);
  halfOpen.socket.end();
  await halfOpen.closed();

  expect(await metric('keibidrop_dropped_total{reason="crowded_out"}')).toBeGreaterThan(0);
  expect(await metric('keibidrop_dropped_total{reason="malformed"}')).toBeGreaterThanOrEqual(2);
  expect(await metric('keibidrop_relay_waiting')).toBe(1);
  expect(await metric('keibidrop_mailboxes')).toBe(1);
  const partner = await clients.show(2);
  expect([await waiting.answer(), await partner.answer()]).toEqual([1, 1]);
  one.socket.end('still here');
  expect(String(await other.rest())).toBe('still here');
});

// SPDX-License-Identifier: MPL-2.0
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { joinMailbox } from '../../packages/discovery/src/index.ts';
import { mailboxOf } from '../../packages/protocol/src/index.ts';
import { openGrpcChannel } from '../../packages/session/src/index.ts';
import { HAS_REDIS, Redis } from '../harness/redis.ts';
import type { Running } from '../harness/running.ts';
import { exitsOf, LISTEN, lastOf, Sandbox } from '../harness/sandbox.ts';
import { elsewhere, type RelayServer, receiveAt, sendAt } from '../reach/away.ts';
import { OneName } from './one-name.ts';
import { RelayClients } from './relay-clients.ts';

// Two servers that share mailboxes through one Redis, with peers at different servers.

const WELL = { sender: 0, receiver: 0 };
const CONTENT = 'met by way of two servers\n';
/** Digits and words that occur nowhere else. */
const NAMEPLATE = '481516234';
const WORDS = ['zebra', 'walnut'];

describe.skipIf(!HAS_REDIS)('servers that share mailboxes (needs redis-server)', () => {
  let room: Sandbox;
  let redis: Redis;
  let one: RelayServer;
  let other: RelayServer;
  const names: OneName[] = [];

  beforeEach(async () => {
    room = await Sandbox.open();
    await writeFile(room.path('file'), CONTENT);
    redis = await Redis.start(room);
    one = await startServer();
    other = await startServer();
  });
  afterEach(async () => {
    for (const name of names.splice(0)) await name.close();
    await room.close();
  });

  async function startServer(...args: string[]): Promise<RelayServer> {
    const server = await room.start(['relay', '--json', '--redis', redis.url, ...LISTEN, ...args]);
    const { port } = await server.until('listening');
    return { server, port: port as number, address: `127.0.0.1:${port}` };
  }

  async function oneName(...servers: RelayServer[]): Promise<OneName> {
    const name = await OneName.open(...servers.map(({ port }) => port));
    names.push(name);
    return name;
  }

  async function received(receiver: Running): Promise<unknown> {
    expect(await receiver.ended, receiver.stdout + receiver.stderr).toBe(0);
    expect(await readFile(room.path('out', 'file'), 'utf8')).toBe(CONTENT);
    return (await receiver.until('connected')).path;
  }

  async function health({ address }: RelayServer): Promise<[number, string]> {
    const response = await fetch(`http://${address}/healthz`);
    return [response.status, await response.text()];
  }

  const keys = async () => (await redis.ask('KEYS *')).match(/keibidrop:\S+/g) ?? [];

  it('let a receiver at one find a sender at the other, and delete the mailbox when the sender leaves', async () => {
    const sender = await sendAt(one.address, room, ['file']);
    const [mailbox] = await keys();
    expect(mailbox).toMatch(/^keibidrop:mailbox:[0-9a-f]{64}$/);
    // A killed server leaves the key behind for no longer than this.
    expect(Number((await redis.ask(`PTTL ${mailbox}`)).slice(1))).toBeLessThanOrEqual(30_000);
    const receiver = await receiveAt(other.address, room);
    expect(await received(receiver)).toBe('local');
    expect(await exitsOf({ sender, receiver })).toEqual(WELL);
    await expect.poll(keys).toEqual([]);
  });

  it('count wrong codes at both together, and give a number to one sender', async () => {
    const sender = await sendAt(one.address, room, ['file']);
    const rival = await room.start(
      ['send', 'file', '--json', '--code', '7-orbit-walnut', ...LISTEN, '--rendezvous', other.address],
      await elsewhere(room),
    );
    expect(await rival.ended).toBe(4);
    expect(lastOf(rival)).toMatchObject({ code: 'RENDEZVOUS_BUSY' });
    for (const { address } of [one, other, other]) {
      const guest = await room.start(
        ['receive', '7-wrong-words', '--yes', '--json', '--rendezvous', address],
        await elsewhere(room),
      );
      expect([await guest.ended, lastOf(guest)?.code]).toEqual([3, 'CODE_WRONG']);
    }
    expect([await sender.ended, lastOf(sender)?.code]).toEqual([3, 'CODE_EXHAUSTED']);
  });

  it("relay between peers that one name led to different servers: both use the sender's server, by its own address", async () => {
    // Its port is free and known now.
    one.server.kill();
    await one.server.ended;
    one = await startServer('--listen', `127.0.0.1:${one.port}`, '--advertise', `localhost:${one.port}`);
    // Receivers with --relay-only accept the relay of another server if its name is the one they know.
    const name = (await oneName(one, other)).address.replace('127.0.0.1', 'localhost');
    const sender = await sendAt(name, room, ['file', '--relay-only']);
    const receiver = await receiveAt(name, room, ['--relay-only']);
    expect(await received(receiver)).toBe('relay');
    expect(await exitsOf({ sender, receiver })).toEqual(WELL);
  });

  it('recover when one is killed: the sender moves to the other, and the next receiver gets through', async () => {
    const name = await oneName(one, other);
    const sender = await sendAt(name.address, room, ['file', '--receivers', '2']);
    expect(await received(await receiveAt(other.address, room))).toBe('local');
    one.server.kill();
    await sender.until('rendezvous', ({ state }) => state === 'lost');
    const opened = () => sender.events().filter(({ state }) => state === 'open').length;
    await sender.until('rendezvous', () => opened() === 2);
    expect(await received(await receiveAt(other.address, room, ['--overwrite']))).toBe('local');
    expect(await sender.ended).toBe(0);
  });

  it('report that no sender waits after a server with a sender was killed', async () => {
    const sender = await sendAt(one.address, room, ['file']);
    one.server.kill();
    await one.server.ended;
    const receiver = await receiveAt(other.address, room);
    expect([await receiver.ended, lastOf(receiver)?.code]).toEqual([4, 'RENDEZVOUS_NOT_FOUND']);
    expect(await keys()).toEqual([]);
    sender.kill();
  });

  it('limit parallel guesses of numbers to as many misses a minute as sequential ones', async () => {
    const place = { host: '127.0.0.1', port: one.port };
    const guess = (index: number) =>
      joinMailbox(place, mailboxOf(`${index}`), {
        openChannel: openGrpcChannel,
        signal: new AbortController().signal,
      }).then(
        () => 'found',
        ({ code }) => code,
      );
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, index) => guess(index)));
    const count = (code: string) => outcomes.filter((outcome) => outcome === code).length;
    expect([count('RENDEZVOUS_NOT_FOUND'), count('RENDEZVOUS_BUSY')]).toEqual([30, 10]);
  });

  it('continue without Redis with what they can do, report it, and share again once it is back', async () => {
    const sender = await sendAt(one.address, room, ['file', '--receivers', '2']);
    const clients = new RelayClients(one.port);
    const [left, right] = await clients.pair(1);
    await redis.kill();
    await expect.poll(() => health(one)).toEqual([503, expect.stringMatching(/^no redis: \w+\n$/)]);
    left.socket.end('still relayed');
    expect(String(await right.rest())).toBe('still relayed');
    // At the sender's own server everything works as before.
    expect(await received(await receiveAt(one.address, room))).toBe('local');

    await redis.restart();
    await expect.poll(() => health(one)).toEqual([200, 'ok\n']);
    await expect.poll(() => health(other)).toEqual([200, 'ok\n']);
    expect(await received(await receiveAt(other.address, room, ['--overwrite']))).toBe('local');
    expect(await sender.ended).toBe(0);
    expect(one.server.stderr).toMatch(/"state":"lost","reason":"[\w ]+","msg":"redis"/);
    expect(one.server.stderr).toMatch(/"state":"back","msg":"redis"/);
    clients.close();
  });

  it('reveal no number or word of a code, no name and no content to Redis', async () => {
    const monitor = await redis.monitor();
    const code = [NAMEPLATE, ...WORDS].join('-');
    const sender = await sendAt(one.address, room, ['file', '--code', code]);
    const { env } = await elsewhere(room);
    const receiver = await room.start(
      ['receive', code, '--yes', '--json', '--out', 'out', '--rendezvous', other.address],
      { env: { ...env } },
    );
    expect(await received(receiver)).toBe('local');
    expect(await exitsOf({ sender, receiver })).toEqual(WELL);
    const seen = monitor.text();
    monitor.close();
    expect(seen).toMatch(/"publish" "keibidrop:server:/i);
    for (const secret of [NAMEPLATE, ...WORDS, 'file', CONTENT.trim()]) expect(seen).not.toContain(secret);
  });

  it('do not start without it, and say what to do without showing its password', async () => {
    await redis.kill();
    const server = await room.start([
      'relay',
      '--json',
      '--redis',
      `redis://u:hunter2@127.0.0.1:${redis.port}`,
      ...LISTEN,
    ]);
    expect(await server.ended).toBe(2);
    expect(lastOf(server)).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `Redis at redis://127.0.0.1:${redis.port} cannot be used (ECONNREFUSED). Check --redis, and that it runs.`,
    });
  });
});

// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Command } from './command.ts';
import type { HostileReceiver } from './hostile-receiver.ts';
import { offeredFiles } from './offered-files.ts';
import { Sending } from './sending.ts';

/**
 * Runs `lie` on a receiver that has the whole offer. Resolves with the sender's report, and whether it serves the next
 * receiver.
 */
async function suffered(lie: (receiver: HostileReceiver, entries: number) => Promise<unknown>) {
  const sending = await Sending.begin();
  try {
    const receiver = await sending.hostile();
    await receiver.say({ $case: 'hello', value: { label: 'mallory' } });
    const { value } = await receiver.hears('offerEnd');
    await lie(receiver, value.entries);
    const { code, peer } = await sending.command.shows('receiverLost');
    const { receiver: honest, sender, whole } = await sending.servesAnHonestOne();
    return { code, peer, honest: honest.exit, sender: sender.exit, whole, stderr: sender.stderr };
  } finally {
    await sending.close();
  }
}

const all = (entries: number) => Buffer.alloc(Math.ceil(entries / 8), 0xff >> (8 - entries));
const MALFORMED = 'HANDSHAKE_MALFORMED';
/** The folder, the inner folder, the small and the large file. */
const ENTRIES = 4;

const lies: [what: string, lie: (receiver: HostileReceiver, entries: number) => Promise<unknown>][] = [
  ['answers a page that was never sent', (r, n) => r.answer(n, 1, Buffer.of(1))],
  ['answers no entry', (r) => r.answer(0, 0, Buffer.alloc(0))],
  ['answers more entries than there are', (r, n) => r.answer(0, n + 1, all(n + 1))],
  ['answers 2^32 - 1 entries', (r) => r.answer(0, 0xffffffff, Buffer.of(1))],
  ['answers with a bitmap too short', (r, n) => r.answer(0, n, Buffer.alloc(0))],
  ['answers with a bitmap too long', (r, n) => r.answer(0, n, Buffer.alloc(9))],
  ['wants a folder', (r, n) => r.answer(0, n, Buffer.of(1))],
  ['answers the same page twice', (r, n) => twice(() => r.answer(0, n, Buffer.of(0)))],
  ['holds chunks of an unknown entry', (r, n) => r.answer(0, n, Buffer.of(0), [{ entry: 99, held: Buffer.of(1) }])],
  ['holds chunks of a folder', (r, n) => r.answer(0, n, Buffer.of(0), [{ entry: 0, held: Buffer.of(1) }])],
  ['holds more chunks than a file has', (r, n) => r.answer(0, n, all(n), [{ entry: 1, held: Buffer.alloc(4096) }])],
  ['cannot keep an unknown entry', (r, n) => failed(r, n)],
  ['cannot keep entry 2^32 - 1', (r) => failed(r, 0xffffffff)],
  ['sends its name twice', (r) => r.say({ $case: 'hello', value: { label: 'eve' } })],
  ['accepts twice', (r) => twice(() => accept(r))],
];

function failed(receiver: HostileReceiver, entry: number): Promise<unknown> {
  return receiver.say({ $case: 'failed', value: { entry, code: 'TRANSFER_DISK_FULL', path: 'x' } });
}

async function twice(say: () => Promise<unknown>): Promise<void> {
  await say();
  await say();
}

function accept(receiver: HostileReceiver): Promise<unknown> {
  return receiver.say({ $case: 'accept', value: {} });
}

describe('a receiver that', () => {
  it.concurrent.each(lies)('%s is dropped, and the next one served', async (_what, lie) => {
    const { code, ...rest } = await suffered(lie);
    expect(code).toBe(MALFORMED);
    expect(rest).toEqual({ peer: 'mallory', honest: 0, sender: 0, whole: true, stderr: '' });
  });

  it.concurrent('has a name over 128 bytes is dropped', async () => {
    const sending = await Sending.begin();
    try {
      const receiver = await sending.hostile();
      await receiver.say({ $case: 'hello', value: { label: 'x'.repeat(129) } });
      expect(await sending.command.shows('receiverLost')).toMatchObject({ code: 'TRANSFER_LIMIT_EXCEEDED' });
    } finally {
      await sending.close();
    }
  });

  it.concurrent('requests everything thousands of times uses no memory', async () => {
    const sending = await Sending.begin([], 2000);
    try {
      const before = sending.command.peakRss;
      const receiver = await sending.hostile();
      const { count, wanted } = await offeredFiles(receiver);
      const call = await receiver.call();
      for (let i = 0; i < 5000; i++) {
        const body = { $case: 'answer' as const, value: { firstEntry: 0, count, wanted, partials: [] } };
        if (call.destroyed) break;
        if (!call.write({ body })) await Promise.race([once(call, 'drain'), receiver.session.closed]);
      }
      expect(await sending.command.shows('receiverLost')).toMatchObject({ code: MALFORMED });
      expect(sending.command.peakRss - before).toBeLessThan(64 * 2 ** 20);
    } finally {
      await sending.close();
    }
  });

  it.concurrent('reports a failure of each entry a thousand times is counted once for each', async () => {
    const sending = await Sending.begin();
    try {
      const receiver = await sending.hostile();
      await receiver.say({ $case: 'hello', value: { label: 'test' } });
      await receiver.hears('offerEnd');
      for (let i = 0; i < 4000; i++) await failed(receiver, i % ENTRIES);
      await receiver.say({
        $case: 'finished',
        value: { files: 0, bytes: 0, skipped: 0, resumedBytes: 0, failed: 4000 },
      });
      const { exit, events } = await sending.command.ended;
      expect({ exit, failed: events.filter(({ event }) => event === 'failed').length }).toEqual({
        exit: 1,
        failed: ENTRIES,
      });
    } finally {
      await sending.close();
    }
  });

  it.concurrent('reports an error code of a later version is quoted with that code', async () => {
    const sending = await Sending.begin();
    try {
      const receiver = await sending.hostile();
      await receiver.say({ $case: 'hello', value: { label: 'test' } });
      await receiver.hears('offerEnd');
      await receiver.say({ $case: 'decline', value: { reason: 'OF_A_LATER_VERSION' } });
      expect(await sending.command.shows('receiverLost')).toMatchObject({
        code: 'PEER_FAILED',
        message: expect.stringMatching(/^OF_A_LATER_VERSION: The other side/),
      });
    } finally {
      await sending.close();
    }
  });

  it.concurrent('requests digests of entries that are no files gets an error for each call and does no harm', async () => {
    const sending = await Sending.begin();
    try {
      const receiver = await sending.hostile();
      await receiver.hears('offerEnd');
      const answers = [];
      for await (const { entry, code, sha256 } of receiver.session.client.digests({
        entries: [0, 99, 0xffffffff, 1, 2, 3],
      })) {
        answers.push({ entry, refused: code !== '', digests: sha256.length / 32 });
      }
      expect(answers.slice(0, 3).map(({ entry, refused }) => ({ entry, refused }))).toEqual(
        [0, 99, 0xffffffff].map((entry) => ({ entry, refused: true })),
      );
      const files = answers.slice(3).filter(({ refused }) => !refused);
      expect(files.map(({ digests }) => digests).sort()).toEqual([1, 3]);
      receiver.close();
      const { whole } = await sending.servesAnHonestOne();
      expect(whole).toBe(true);
    } finally {
      await sending.close();
    }
  });
});

describe('the second of two receivers that come at once', () => {
  it('learns at once that the sender is busy, though both have proved the code', async () => {
    const sending = await Sending.begin();
    const met = [];
    try {
      for (let i = 0; i < 2; i++) met.push(await sending.meets());
      const [first, second] = [await met[0]?.(), await met[1]?.()];
      expect(await second?.session.closed).toMatchObject({ code: 'PEER_BUSY' });
      expect(second?.received).toEqual([]);
      await first?.hears('offerEnd');
    } finally {
      await sending.close();
    }
  });

  it('learns it, too, if the first has everything before the second shakes hands', async () => {
    const sending = await Sending.begin();
    try {
      const shakeHands = await sending.meets();
      const { whole } = await sending.servesAnHonestOne(async () => {
        expect(await (await shakeHands()).session.closed).toMatchObject({ code: 'PEER_BUSY' });
      });
      expect(whole).toBe(true);
    } finally {
      await sending.close();
    }
  });

  it('ends with 4, and reports no lost connection', async () => {
    const sending = await Sending.begin();
    try {
      const connect = ['--connect', `127.0.0.1:${sending.port}`];
      const receive = (out: string) =>
        new Command(
          [
            'receive',
            '7-guitar-pencil',
            '--yes',
            '--json',
            '--out',
            join(sending.root, out),
            '--limit',
            '1M',
            ...connect,
          ],
          { home: sending.root },
        );
      const endings = await Promise.all(['one', 'two'].map((out) => receive(out).ended));
      expect(endings.map(({ exit }) => exit).sort()).toEqual([0, 4]);
      const refused = endings.find(({ exit }) => exit === 4);
      expect(refused?.events.map(({ event }) => event)).toEqual(['error']);
      expect(refused?.code).toBe('PEER_BUSY');
    } finally {
      await sending.close();
    }
  });
});

describe('a lane', () => {
  it('that arrives with the last message of the handshake, before the sender has a session, is served', async () => {
    const sending = await Sending.begin();
    try {
      const lanes = Array.from({ length: 8 }, () => connect(sending.port, '127.0.0.1').on('error', () => {}));
      await Promise.all(lanes.map((lane) => once(lane, 'connect')));
      const receiver = await sending.hostile({ lanes });
      const carried = lanes.map((lane) =>
        Promise.race([once(lane, 'data').then(() => 'data'), once(lane, 'close').then(() => 'closed')]),
      );
      const { count, wanted } = await offeredFiles(receiver);
      await receiver.answer(0, count, wanted);
      expect(await Promise.race(carried)).toBe('data');
      expect(lanes.filter(({ closed }) => closed)).toEqual([]);
    } finally {
      await sending.close();
    }
  });

  const spoilt: [what: string, number: number, change: (hello: Buffer) => Buffer][] = [
    ['whose number is not the sealed one', 0, (hello) => changed(hello, 27)],
    ['whose frame is altered', 0, (hello) => changed(hello, hello.length - 20)],
    ['whose tag is altered', 0, (hello) => changed(hello, hello.length - 1)],
    ['whose nonce is altered', 0, (hello) => changed(hello, 40)],
    ['with number 256', 256, (hello) => hello],
    ['with number 2^32 - 1', 0xffffffff, (hello) => hello],
  ];

  it('with a wrong hello is closed without a reply, and a right hello is accepted once', async () => {
    const sending = await Sending.begin();
    try {
      const receiver = await sending.hostile();
      await receiver.hears('offerEnd');
      for (const [what, number, change] of spoilt) {
        expect({ what, heard: await heardUntilClosed(await receiver.lane(number, change)) }).toEqual({
          what,
          heard: 0,
        });
      }
      const open = await receiver.lane(0);
      expect(await heardUntilClosed(await receiver.lane(0))).toBe(0);
      // The first lane 0 is alive: the requested files arrive on it.
      const data = once(open, 'data');
      await receiver.answer(0, ENTRIES, (await offeredFiles(receiver)).wanted);
      await data;
      receiver.close();
      expect(await sending.command.shows('receiverLost')).toMatchObject({ code: 'SESSION_LOST' });
    } finally {
      await sending.close();
    }
  });
});

function changed(hello: Buffer, at: number): Buffer {
  const copy = Buffer.from(hello);
  copy[at] = (copy[at] as number) ^ 1;
  return copy;
}

async function heardUntilClosed(socket: NodeJS.EventEmitter): Promise<number> {
  let heard = 0;
  socket.on('data', (bytes: Buffer) => {
    heard += bytes.length;
  });
  await once(socket, 'close');
  return heard;
}

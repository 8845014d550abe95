// SPDX-License-Identifier: MPL-2.0
import { readdirSync, readlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneCounter } from '../harness/lane-counter.ts';
import type { Running } from '../harness/running.ts';
import { exitsOf, lastOf, Sandbox } from '../harness/sandbox.ts';
import { digestOf, readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';
import { type RelayServer, receiveAt, sendAt, startRelay } from './away.ts';

const MIB = 1 << 20;
const WELL = { sender: 0, receiver: 0 };
const PATIENT = { env: { KD_PATIENCE: '60s' } };
/** Bytes in flight when a connection breaks: in the sockets, in the proxy, in the receiver's memory. */
const IN_FLIGHT_BYTES = 4 * MIB;
const FRAMING_BYTES = 256 << 10;

let room: Sandbox;
let counter: LaneCounter;
beforeEach(async () => {
  room = await Sandbox.open();
  counter = await LaneCounter.open();
});
afterEach(async () => {
  await room.close();
  await counter.close();
});

/** The number of open sockets of a process. */
function socketsOf({ pid }: Running): number {
  const descriptors = readdirSync(`/proc/${pid}/fd`);
  return descriptors.filter((fd) => linkOf(`/proc/${pid}/fd/${fd}`).startsWith('socket:')).length;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // it has just been closed
  }
}

const reached = (receiver: Running, least: number) =>
  receiver.until('progress', ({ bytes }) => (bytes as number) >= least);

describe('a connection that is cut', () => {
  it('is resumed, and the rest of a tree comes over new connections; few bytes are sent twice', async () => {
    await writeSmallFiles(room.path('source', 'small'), 200);
    await writeRandom(room.path('source', 'large'), 40 * MIB);
    const { sender, port } = await room.send(['source', '--limit', '12M']);
    counter.target = port;
    const receiver = await room.receive(['--connect', counter.address, '--out', 'out'], PATIENT);
    for (const least of [8, 16, 24]) {
      await reached(receiver, least * MIB);
      counter.cut();
      await receiver.until('progress', ({ bytes }) => (bytes as number) > least * MIB);
    }
    expect(await exitsOf({ sender, receiver })).toEqual(WELL);
    expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
    const total = 40 * MIB + 200 * 1000;
    expect(counter.laneBytes - total).toBeLessThan(3 * IN_FLIGHT_BYTES + FRAMING_BYTES);
    // No file is left from an earlier run, and each file counts once.
    const done = lastOf(receiver);
    expect(done).toMatchObject({ event: 'done', files: 201, skipped: 0, resumedBytes: 0 });
    expect(lastOf(sender)).toMatchObject({ event: 'done', files: 201, bytes: done?.bytes, skipped: 0 });
    const kinds = receiver.events().map(({ event }) => event);
    expect(kinds.filter((kind) => kind === 'connected').length).toBe(4);
    expect(await receiver.until('reconnecting')).toMatchObject({ reason: 'The connection was lost.', attempt: 1 });
  });

  it('ends the receiver at once without patience, with 5', async () => {
    await writeRandom(room.path('file'), 16 * MIB);
    const { port } = await room.send(['file', '--limit', '8M']);
    counter.target = port;
    const receiver = await room.receive(['--connect', counter.address, '--out', 'out', '--patience', '0'], PATIENT);
    await reached(receiver, 2 * MIB);
    counter.cut();
    expect(await receiver.ended).toBe(5);
    expect(receiver.events().some(({ event }) => event === 'reconnecting')).toBe(false);
  });

  it("frees the sender's slot for another receiver with the code, and then rejects the first one", async () => {
    await writeRandom(room.path('file'), 16 * MIB);
    const { sender, port } = await room.send(['file', '--limit', '8M']);
    counter.target = port;
    const first = await room.receive(['--connect', counter.address, '--out', 'out'], { env: { KD_PATIENCE: '2s' } });
    await reached(first, 2 * MIB);
    first.kill('SIGSTOP');
    counter.cut();
    await sender.until('receiverLost', ({ mayReturn }) => mayReturn === true);
    const second = await room.receive(['--out', 'out2']);
    expect(await exitsOf({ sender, receiver: second })).toEqual(WELL);
    first.kill('SIGCONT');
    expect(await first.ended).toBe(5);
  });

  it('cannot be resumed once standard output got bytes, and the error says so', async () => {
    await writeRandom(room.path('file'), 16 * MIB);
    const { port } = await room.send(['file', '--limit', '8M']);
    counter.target = port;
    const receiver = await room.receive(['--connect', counter.address, '--stdout'], PATIENT);
    await expect.poll(() => receiver.stdout.length).toBeGreaterThan(0);
    counter.cut();
    expect(await receiver.ended).toBe(5);
    expect(receiver.stderr).toContain('standard output cannot be taken back');
  });
});

describe('a sender whose receivers leave', () => {
  it('keeps no sockets or threads of sessions that were resumed, or cancelled on either side', async () => {
    await writeRandom(room.path('file'), 8 * MIB);
    const { sender, port } = await room.send(['file', '--limit', '8M', '--receivers', '0']);
    counter.target = port;
    const open = () => ({ sockets: socketsOf(sender), threads: readdirSync(`/proc/${sender.pid}/task`).length });
    const { sockets } = open();
    let threads = 0;
    for (let round = 0; round < 4; round++) {
      const args = ['--connect', counter.address, '--out', `out${round}`];
      const receiver = await room.receive(args, PATIENT);
      await reached(receiver, MIB);
      counter.cut();
      await receiver.until('reconnecting');
      await reached(receiver, 2 * MIB);
      receiver.kill('SIGINT');
      expect(await receiver.ended).toBe(130);
      await expect.poll(() => open().sockets).toBe(sockets);
      // Node keeps the threads started in the first round.
      if (round === 0) threads = open().threads;
      else await expect.poll(() => open().threads).toBe(threads);
    }
    sender.kill('SIGINT');
    expect(await sender.ended).toBe(130);
  });
});

describe('a sender that ended without notice', () => {
  it('is retried a few times, and then given up with 5', async () => {
    await writeRandom(room.path('file'), 16 * MIB);
    const { sender } = await room.send(['file', '--limit', '8M']);
    const receiver = await room.receive(['--out', 'out'], PATIENT);
    await reached(receiver, 2 * MIB);
    sender.kill();
    expect(await receiver.ended).toBe(5);
    expect(lastOf(receiver)).toMatchObject({
      code: 'SESSION_LOST',
      message: expect.stringContaining('the sender has ended'),
    });
    expect(receiver.events().filter(({ event }) => event === 'reconnecting').length).toBeGreaterThan(3);
  });

  it('is given up when patience runs out', async () => {
    await writeRandom(room.path('file'), 16 * MIB);
    const { sender } = await room.send(['file', '--limit', '8M']);
    const receiver = await room.receive(['--out', 'out', '--patience', '1s'], PATIENT);
    await reached(receiver, 2 * MIB);
    sender.kill('SIGSTOP');
    sender.kill();
    expect(await receiver.ended).toBe(5);
    expect(lastOf(receiver)).toMatchObject({ message: expect.stringContaining('could not be reached again in time') });
  });

  it('is retried until Ctrl-C, which ends with 130', async () => {
    await writeRandom(room.path('file'), 16 * MIB);
    const { sender } = await room.send(['file', '--limit', '8M']);
    const receiver = await room.receive(['--out', 'out'], PATIENT);
    await reached(receiver, 2 * MIB);
    sender.kill();
    await receiver.until('reconnecting', ({ attempt }) => attempt === 2);
    receiver.kill('SIGINT');
    expect(await receiver.ended).toBe(130);
  });
});

describe('a transfer through a relay', () => {
  let relay: RelayServer;
  beforeEach(async () => {
    relay = await startRelay(room);
  });

  it('continues when the relay, also the rendezvous, was killed and restarted', async () => {
    await writeRandom(room.path('file'), 24 * MIB);
    const sender = await sendAt(relay.address, room, ['file', '--relay-only', '--limit', '8M']);
    const receiver = await receiveAt(relay.address, room, ['--relay-only'], PATIENT.env);
    await reached(receiver, 6 * MIB);
    relay.server.kill();
    await receiver.until('reconnecting', ({ attempt }) => attempt === 2);
    await startRelay(room, relay.port);
    expect(await exitsOf({ sender, receiver })).toEqual(WELL);
    expect(await digestOf(room.path('out', 'file'))).toBe(await digestOf(room.path('file')));
    expect(lastOf(receiver)).toMatchObject({ files: 1, bytes: 24 * MIB, resumedBytes: 0 });
    const paths = receiver.events().flatMap(({ event, path }) => (event === 'connected' ? [path] : []));
    expect(paths).toEqual(['relay', 'relay']);
  });
});

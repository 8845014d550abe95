// SPDX-License-Identifier: MPL-2.0
import { mkdir, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LaneCounter } from '../harness/lane-counter.ts';
import type { Running } from '../harness/running.ts';
import { exitsOf, lastOf, Sandbox } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';

const MIB = 1 << 20;
const SOAK = process.env.KD_SOAK === '1';
const { largeBytes, smallFiles, limitMib } = SOAK
  ? { largeBytes: 2048 * MIB, smallFiles: 2000, limitMib: 64 }
  : { largeBytes: 192 * MIB, smallFiles: 500, limitMib: 10 };
const KILLS = 20;
const LONGEST_DELAY_MS = 2500;
/** Another seed makes another run. */
const SEED = Number(process.env.KD_SEED ?? 20_261_121);

/**
 * Bytes that one kill may cause to be sent twice. First, all that the limit lets pass between two saves of the bitmap,
 * which are one second plus the time of a save apart. Second, chunks in flight: in the sockets, in the proxy of this
 * test, and in the receiver's memory.
 */
const SAVE_SECONDS = 1.1;
const IN_FLIGHT_BYTES = 4 * MIB;
const MOST_SENT_AGAIN = SAVE_SECONDS * limitMib * MIB + IN_FLIGHT_BYTES;
/** Overhead of frames, segments and the lane's hello is below this. */
const FRAMING = 1.002;
const FRAMING_BYTES = 64 << 10;

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

/** A seeded generator (mulberry32): each run has the same moments as the one before. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Small files before and after the large one, so that kills meet both. The walk takes the last root first. */
const ROOTS = ['source/after', 'source/large', 'source/before'];

async function makeSource(): Promise<number> {
  await writeSmallFiles(room.path('source', 'before'), smallFiles / 2);
  await writeSmallFiles(room.path('source', 'after'), smallFiles / 2);
  await mkdir(room.path('source', 'large'));
  await writeRandom(room.path('source', 'large', 'file'), largeBytes);
  const tree = await readTree(room.path('source'));
  return [...tree.values()].reduce((sum, { size = 0n }) => sum + Number(size), 0);
}

async function startSender(): Promise<Running> {
  const { sender, port } = await room.send([...ROOTS, '--limit', `${limitMib}M`]);
  counter.target = port;
  return sender;
}

/** Lower bound of the bytes that the receiver held when this run started: its progress minus the bytes since. */
function heldAtStart(receiver: Running, before: number): () => number {
  let held = 0;
  const look = () => {
    for (const { event, bytes } of receiver.events({ progress: true }).slice(-1)) {
      if (event === 'progress') held = Math.max(held, (bytes as number) - (counter.laneBytes - before));
    }
  };
  receiver.child.stdout?.on('data', look);
  return () => held;
}

it(`survives ${KILLS} kills of either side and sends only the last second's bytes twice`, {
  timeout: SOAK ? 600_000 : 300_000,
}, async () => {
  const total = await makeSource();
  const random = randomFrom(SEED);
  let sender = await startSender();
  const sentAgain: number[] = [];
  let expected = 0;
  for (let kill = 0; kill <= KILLS; kill++) {
    const before = counter.laneBytes;
    const receiver = await room.receive(['--connect', counter.address, '--out', 'out']);
    const held = heldAtStart(receiver, before);
    if (kill === KILLS) {
      expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
      const done = lastOf(receiver) as unknown as {
        bytes: number;
        resumedBytes: number;
        skipped: number;
        files: number;
      };
      const carried = counter.laneBytes - before;
      // Bytes that the run reports as resumed must not cross the wire again.
      expect(carried).toBeGreaterThanOrEqual(done.bytes - done.resumedBytes);
      expect(carried).toBeLessThanOrEqual((done.bytes - done.resumedBytes) * FRAMING + FRAMING_BYTES);
      expect(done.files + done.skipped).toBe(smallFiles + 1);
      sentAgain.push(expected - held());
      break;
    }
    // Some kills hit the start and the handshake, most the transfer, up to long after the first saves of the bitmap.
    const early = random() < 0.2;
    const delay = random() * (early ? 300 : LONGEST_DELAY_MS);
    await Promise.race([receiver.ended, (early ? sleep(0) : receiver.until('connected')).then(() => sleep(delay))]);
    expect(lastOf(receiver)?.event, 'the transfer has to outlast the kills').not.toBe('done');
    const victim = kill % 2 === 0 ? receiver : sender;
    victim.kill('SIGKILL');
    expect(await victim.ended).toBe('SIGKILL');
    if (victim === sender) {
      expect([4, 5]).toContain(await receiver.ended);
      sender = await startSender();
    }
    const names = await readdir(room.path('out')).catch(() => []);
    for (const name of names) expect(name).toMatch(/^(before|large|after|\.keibidrop-partial)$/);
    if (receiver.events({ progress: true }).some(({ event }) => event === 'progress')) {
      sentAgain.push(expected - held());
      expected = held() + counter.laneBytes - before;
    }
  }
  expect(await readTree(room.path('out'))).toEqual(await readTree(room.path('source')));
  expect(await room.announced()).toEqual([]);
  const megabytes = sentAgain.map((bytes) => (bytes / MIB).toFixed(1)).join(' ');
  console.log(`${total} bytes took ${counter.laneBytes} on the wire; MiB sent again after each kill: ${megabytes}`);
  expect(sentAgain.length).toBeGreaterThan(KILLS / 2);
  for (const bytes of sentAgain) expect(bytes).toBeLessThanOrEqual(MOST_SENT_AGAIN);
  expect(counter.laneBytes - total).toBeLessThanOrEqual(KILLS * MOST_SENT_AGAIN);
});

// SPDX-License-Identifier: MPL-2.0
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneCounter } from '../harness/lane-counter.ts';
import type { Running } from '../harness/running.ts';
import { CODE, exitsOf, lastOf, Sandbox } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';

const MIB = 1 << 20;
const WELL = { sender: 0, receiver: 0 };
const PATIENT = { env: { KD_PATIENCE: '60s' } };
/** On its way when a connection breaks: in the sockets, in the proxy, in the receiver's hands. */
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

const reached = (receiver: Running, least: number) =>
  receiver.until('progress', ({ bytes }) => (bytes as number) >= least);

describe('a connection that is cut', () => {
  it('is taken up again, and the rest of a tree comes over new ones; little is sent twice', async () => {
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
    // Nothing was there from an earlier run, and each file counts once.
    const done = lastOf(receiver);
    expect(done).toMatchObject({ event: 'done', files: 201, skipped: 0, resumedBytes: 0 });
    expect(lastOf(sender)).toMatchObject({ event: 'done', files: 201, bytes: done?.bytes, skipped: 0 });
    const kinds = receiver.events().map(({ event }) => event);
    expect(kinds.filter((kind) => kind === 'connected').length).toBe(4);
    expect(await receiver.until('reconnecting')).toMatchObject({ reason: 'The connection was lost.', attempt: 1 });
  });
});

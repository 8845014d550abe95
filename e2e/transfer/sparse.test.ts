// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneCounter } from '../harness/lane-counter.ts';
import { exitsOf, IS_ROOT, lastOf, run, Sandbox } from '../harness/sandbox.ts';

const SUCCESS = { sender: 0, receiver: 0 };
const MIB = 1 << 20;
const GIB = 1 << 30;
const ISLANDS = 12;
/** Data of each island: two chunks and a bit, not aligned to chunks. */
const ISLAND_BYTES = 2 * MIB + 12_345;

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
});
afterEach(() => room.close());

/** The offset at which an island starts. */
const shoreOf = (island: number, bytes: number) => Math.floor((bytes / ISLANDS) * island) + 777 * island;

/** Writes a file of `bytes` that is a hole except for a few islands. */
async function writeSparse(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.truncate(bytes);
    for (let i = 0; i < ISLANDS; i++) {
      await file.write(randomBytes(ISLAND_BYTES), 0, ISLAND_BYTES, shoreOf(i, bytes));
    }
  } finally {
    await file.close();
  }
}

/**
 * Expects the same islands, and at most one more block on disk for each shore, so that there is no other data.
 * Reading all zeros of both files would take longer than everything else.
 */
async function expectSameAndSparse(out: string, source: string): Promise<void> {
  const [copy, original] = await Promise.all([stat(out), stat(source)]);
  expect(copy.size).toBe(original.size);
  expect(copy.blocks).toBeLessThanOrEqual(original.blocks + ISLANDS * 16);
  expect(copy.mtimeMs).toBe(original.mtimeMs);
  for (let i = 0; i < ISLANDS; i++) {
    const from = Math.max(0, shoreOf(i, original.size) - MIB);
    const [there, here] = await Promise.all([out, source].map((path) => readAt(path, from, ISLAND_BYTES + 2 * MIB)));
    expect(there?.equals(here as Buffer), `island ${i}`).toBe(true);
  }
}

async function readAt(path: string, offset: number, length: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

describe('a sparse file', () => {
  it('of 8 GiB arrives equal and sparse, and only its data is sent', async () => {
    await writeSparse(room.path('disk'), 8 * GIB);
    const counter = await LaneCounter.open();
    try {
      const { sender, port } = await room.send(['disk']);
      counter.target = port;
      const receiver = await room.receive(['--connect', counter.address, '--out', 'out']);
      expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
      expect(lastOf(receiver)).toMatchObject({ event: 'done', files: 1, bytes: 8 * GIB });
      // Islands are sent as whole chunks.
      expect(counter.laneBytes).toBeLessThan(ISLANDS * (ISLAND_BYTES + 2 * MIB));
      await expectSameAndSparse(room.path('out', 'disk'), room.path('disk'));
    } finally {
      await counter.close();
    }
  });

  it('is resumed after its receiver was killed', async () => {
    await writeSparse(room.path('disk'), 8 * GIB);
    const { sender } = await room.send(['disk', '--limit', '4M']);
    const killed = await room.receive(['--out', 'out']);
    // The bitmap is saved once a second; after two saves there is something to resume.
    await killed.until('progress', ({ bytes }) => (bytes as number) > 4 * GIB);
    killed.kill('SIGKILL');
    await killed.ended;
    const receiver = await room.receive(['--out', 'out']);
    expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
    expect(lastOf(receiver)).toMatchObject({ event: 'done', resumedBytes: expect.any(Number) });
    expect(lastOf(receiver)?.resumedBytes).toBeGreaterThan(GIB);
    await expectSameAndSparse(room.path('out', 'disk'), room.path('disk'));
  });

  it('is written to standard output with its zeros', async () => {
    await writeSparse(room.path('disk'), 200 * MIB + 5);
    const { sender } = await room.send(['disk']);
    const receiver = await room.receive(['--stdout'], { stdoutTo: room.path('written') });
    expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
    run('cmp', '--', room.path('written'), room.path('disk'));
  });

  it.skipIf(!IS_ROOT)('larger than the disk arrives if its data fits (needs root, to mount a small disk)', async () => {
    const out = await room.mountTmpfs('out', 64 * MIB);
    await writeSparse(room.path('disk'), 8 * GIB);
    const { sender } = await room.send(['disk']);
    const receiver = await room.receive(['--out', out]);
    expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
    await expectSameAndSparse(join(out, 'disk'), room.path('disk'));
  });
});

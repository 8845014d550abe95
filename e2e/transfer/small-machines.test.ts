// SPDX-License-Identifier: MPL-2.0
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MemoryGroup } from '../harness/memory-group.ts';
import { exitsOf, Sandbox } from '../harness/sandbox.ts';
import { digestOf, readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';

const MIB = 1 << 20;
const GIB = 1 << 30;
const SUCCESS = { sender: 0, receiver: 0 };
const LIMIT = 512 * MIB;

let room: Sandbox;
const groups: MemoryGroup[] = [];
beforeEach(async () => {
  room = await Sandbox.open();
});
afterEach(async () => {
  await room.close();
  for (const group of groups.splice(0)) group.close();
});

function openGroup(): MemoryGroup {
  const group = MemoryGroup.tryOpen(LIMIT);
  if (group === undefined) throw new Error('only the first control group could be made');
  groups.push(group);
  return group;
}

it.each([20, 19])('%i open files are too few, and the error says so', async (files) => {
  const under = ['sh', '-c', `ulimit -n ${files}; exec "$@"`, 'sh'];
  const sender = await room.start(['send', '--text', 'hi'], { under });
  expect(await sender.ended).toBe(1);
  expect(sender.stderr).toContain('ulimit -n');
  expect(sender.stderr).not.toContain('bug');
});

it('an installation without its addon says what is missing', async () => {
  const missing = room.path('keibidrop.node');
  const sender = await room.start(['send', '--text', 'hi'], { env: { KD_NATIVE_BINDING: missing } });
  expect(await sender.ended).toBe(1);
  expect(sender.stderr).toContain(`${missing}: not there`);
  expect(sender.stderr).not.toContain('bug');
});

it('one core is enough for both sides', async () => {
  await writeSmallFiles(room.path('source', 'small'), 2000);
  await writeRandom(room.path('source', 'large'), 128 * MIB);
  const under = ['taskset', '--cpu-list', '0'];
  const { sender } = await room.send(['source'], { under });
  const receiver = await room.receive(['--out', 'out'], { under });
  expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
  expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
});

const probe = MemoryGroup.tryOpen(LIMIT);
probe?.close();

if (probe === undefined) {
  it('512 MiB of memory: not tried, since no control group can be made here (needs root and a writable cgroup)', () => {
    expect(MemoryGroup.tryOpen(LIMIT)).toBeUndefined();
  });
} else {
  it('512 MiB of memory for each side, page cache included, are enough for a file of 1 GiB', async () => {
    await writeRandom(room.path('file'), GIB);
    const { sender } = await room.send(['file'], { under: openGroup().command });
    const receiver = await room.receive(['--out', 'out'], { under: openGroup().command });
    expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
    expect(await digestOf(room.path('out', 'file'))).toBe(await digestOf(room.path('file')));
    // The processes ran in their groups, within the limit.
    for (const { peak } of groups) {
      expect(peak).toBeGreaterThan(8 * MIB);
      expect(peak).toBeLessThanOrEqual(LIMIT);
    }
  });
}

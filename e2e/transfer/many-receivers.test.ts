// SPDX-License-Identifier: MPL-2.0
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastOf, Sandbox } from '../harness/sandbox.ts';
import { digestOf, writeRandom } from '../harness/tree.ts';

const MIB = 1 << 20;
/** Memory of a sender of one large file, whatever its receivers do, with room for Node's own. */
const MOST_RSS = 250 * MIB;

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
});
afterEach(() => room.close());

async function peakRss(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

async function isDelivered(...folders: string[]): Promise<boolean> {
  const digests = await Promise.all([room.path('file'), ...folders.map((out) => room.path(out, 'file'))].map(digestOf));
  return new Set(digests).size === 1;
}

it('serves a dozen at once with nothing on standard error', async () => {
  await writeRandom(room.path('file'), 8 * MIB);
  const outs = Array.from({ length: 12 }, (_, i) => `out${i}`);
  // Slow enough for all of them to overlap.
  const { sender } = await room.send(['file', '--receivers', '12', '--limit', '16M']);
  const receivers = await Promise.all(outs.map((out) => room.receive(['--out', out])));
  expect(await Promise.all(receivers.map(({ ended }) => ended))).toEqual(outs.map(() => 0));
  expect({ exit: await sender.ended, stderr: sender.stderr }).toEqual({ exit: 0, stderr: '' });
  expect(await isDelivered(...outs)).toBe(true);
});

describe('one of several receivers', () => {
  it('delays no other if it is slow', async () => {
    await writeRandom(room.path('file'), 32 * MIB);
    const { sender } = await room.send(['file', '--receivers', '2']);
    const slow = await room.receive(['--out', 'slow', '--limit', '4M']);
    await slow.until('progress', ({ bytes }) => (bytes as number) >= MIB);
    const fast = await room.receive(['--out', 'fast']);
    expect(await fast.ended).toBe(0);
    expect(lastOf(slow)?.event).not.toBe('done');
    expect(await Promise.all([slow.ended, sender.ended])).toEqual([0, 0]);
    expect(await isDelivered('slow', 'fast')).toBe(true);
    const ends = sender.events().filter(({ event }) => event === 'receiverDone');
    expect(ends.map(({ receiver }) => receiver)).toEqual([2, 1]);
  });

  it('delays neither the others nor the sender if it is stopped, and gets the rest once it runs again', async () => {
    await writeRandom(room.path('file'), 128 * MIB);
    const { sender } = await room.send(['file', '--receivers', '4']);
    const stopped = await room.receive(['--out', 'stopped', '--limit', '32M']);
    await stopped.until('progress', ({ bytes }) => (bytes as number) >= MIB);
    stopped.kill('SIGSTOP');
    for (const out of ['second', 'third', 'fourth']) expect(await (await room.receive(['--out', out])).ended).toBe(0);
    expect(await peakRss(sender.pid)).toBeLessThan(MOST_RSS);
    stopped.kill('SIGCONT');
    expect(await Promise.all([stopped.ended, sender.ended])).toEqual([0, 0]);
    expect(await isDelivered('stopped', 'second', 'third', 'fourth')).toBe(true);
    const ends = sender.events().filter(({ event }) => event === 'receiverDone');
    expect(ends.map(({ receiver }) => receiver)).toEqual([2, 3, 4, 1]);
  });
});

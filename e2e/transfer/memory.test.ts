// SPDX-License-Identifier: MPL-2.0
import { mkdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { exitsOf, Sandbox } from '../harness/sandbox.ts';
import { writeRandom } from '../harness/tree.ts';

const MIB = 1 << 20;
const GIB = 1 << 30;
const BYTES = process.env.KD_SOAK === '1' ? 4 * GIB : GIB;
/** At least a hundred times less than the file: JavaScript memory does not grow with the bytes sent. */
const MOST_GROWTH = 24 * MIB;
const SAMPLER = fileURLToPath(new URL('../harness/memory-sampler.mjs', import.meta.url));

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
});
afterEach(() => room.close());

interface Sample {
  heapUsed: number;
  external: number;
  arrayBuffers: number;
  rss: number;
}

async function samplesOf(file: string): Promise<Sample[]> {
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Sample);
}

/** `external` contains `arrayBuffers`. */
const heldByV8 = ({ heapUsed, external }: Sample): number => heapUsed + external;

it(`${BYTES / GIB} GiB never enter JavaScript: the V8 heap and external memory of both sides stay flat`, async () => {
  await mkdir(room.path('memory'));
  await writeRandom(room.path('source'), BYTES);
  const sampled = (side: string) => ({
    node: ['--import', SAMPLER],
    env: { KD_TEST_MEMORY_FILE: room.path('memory', side) },
  });
  // The limit only makes the transfer long enough for many samples.
  const { sender } = await room.send(['source', '--limit', '1G'], sampled('sender'));
  const receiver = await room.receive(['--out', 'out'], sampled('receiver'));
  expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
  expect((await stat(room.path('out', 'source'))).size).toBe(BYTES);
  for (const side of ['sender', 'receiver']) {
    const samples = await samplesOf(room.path('memory', side));
    expect(samples.length).toBeGreaterThan(8);
    const held = samples.map(heldByV8);
    const [most, growth] = [Math.max(...held), Math.max(...held) - Math.min(...held)];
    const rss = Math.max(...samples.map((sample) => sample.rss));
    console.log(
      `${side}: ${samples.length} samples, at most ${Math.round(most / MIB)} MiB held by V8, growth ${Math.round(growth / MIB)} MiB, rss ${Math.round(rss / MIB)} MiB`,
    );
    expect(growth).toBeLessThan(MOST_GROWTH);
    expect(Math.max(...samples.map(({ arrayBuffers }) => arrayBuffers))).toBeLessThan(MOST_GROWTH);
  }
});

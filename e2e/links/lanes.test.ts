// SPDX-License-Identifier: MPL-2.0
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneCounter } from '../harness/lane-counter.ts';
import { exitsOf, run, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';
import { elsewhere } from '../reach/away.ts';

const MIB = 2 ** 20;

describe('a transfer whose lanes are cut', () => {
  let room: Sandbox;
  let proxy: LaneCounter;
  beforeEach(async () => {
    room = await Sandbox.open();
    proxy = await LaneCounter.open();
    await writeSmallFiles(room.path('tree', 'small'), 1000);
    await writeRandom(room.path('tree', 'large'), 64 * MIB);
    await writeRandom(room.path('tree', 'largest'), 96 * MIB);
  });
  afterEach(async () => {
    await room.close();
    await proxy.close();
  });

  /** A transfer through the proxy, slow enough to be cut in the middle. */
  async function start(lanes: number, receive: string[] = [], options: StartOptions = {}, paths = ['tree']) {
    const { sender, port } = await room.send([...paths, '--limit', '100M']);
    proxy.target = port;
    const { env } = await elsewhere(room);
    const dial = ['--connect', proxy.address, ...receive];
    const receiver = await room.receive(dial, { ...options, env: { ...env, KD_LANES: `${lanes}` } });
    return { sender, receiver };
  }

  it('continues on the others and a new lane when one of four is cut', async () => {
    const sides = await start(4, ['--out', 'out']);
    await proxy.carried(30 * MIB);
    proxy.cutLanes(1);
    expect(await exitsOf(sides)).toEqual({ sender: 0, receiver: 0 });
    expect(proxy.lanes).toBe(5);
    expect(await readTree(room.path('out', 'tree'))).toEqual(await readTree(room.path('tree')));
  });

  it('continues on new lanes when all are cut, again and again', async () => {
    const sides = await start(3, ['--out', 'out']);
    for (const bytes of [20, 50, 80, 110]) {
      await proxy.carried(bytes * MIB);
      proxy.cutLanes();
    }
    expect(await exitsOf(sides)).toEqual({ sender: 0, receiver: 0 });
    expect(proxy.lanes).toBeGreaterThanOrEqual(6);
    expect(await readTree(room.path('out', 'tree'))).toEqual(await readTree(room.path('tree')));
  });

  it('reports each file once, and sends only the bytes in flight again', async () => {
    const sides = await start(2, ['--out', 'out', '--verbose']);
    await proxy.carried(80 * MIB);
    proxy.cutLanes();
    expect(await exitsOf(sides)).toEqual({ sender: 0, receiver: 0 });
    const files = sides.receiver.events().filter(({ event }) => event === 'file');
    expect(files).toHaveLength(1002);
    expect(new Set(files.map(({ path }) => path)).size).toBe(1002);
    const done = await sides.receiver.until('done');
    expect(done).toMatchObject({ files: 1002, skipped: 0, resumedBytes: 0 });
    expect(proxy.laneBytes).toBeLessThan((done.bytes as number) + 32 * MIB);
  });

  it('writes to standard output in order although its lane is cut', async () => {
    const { sender, receiver } = await start(1, ['--stdout'], { stdoutTo: room.path('piped') }, [
      'tree/largest',
      'tree/large',
    ]);
    for (const bytes of [20, 50, 80, 110]) {
      await proxy.carried(bytes * MIB);
      proxy.cutLanes();
    }
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
    expect(proxy.lanes).toBe(5);
    const [largest, large] = ['largest', 'large'].map((name) => room.path('tree', name));
    run('sh', '-c', 'cat "$1" "$2" | cmp - "$3"', 'sh', `${largest}`, `${large}`, room.path('piped'));
  });
});

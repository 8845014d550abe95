// SPDX-License-Identifier: MPL-2.0
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LongLink } from '../harness/long-link.ts';
import { CODE, exitsOf, IS_ROOT, Sandbox } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';
import { PROGRAM } from '../hostile/command.ts';
import { elsewhere } from '../reach/away.ts';

const PORT = 26431;
const MIB = 1 << 20;
const SOAK = process.env.KD_SOAK === '1';

describe.skipIf(!IS_ROOT)('over a long link (this test needs root)', () => {
  let room: Sandbox;
  let link: LongLink | undefined;
  beforeEach(async () => {
    room = await Sandbox.open();
  });
  afterEach(async () => {
    await room.close();
    await link?.close();
  });

  /** A sender at A, and a receiver at B that dials it. */
  async function start({ send = [] as string[], timeoutMs = 240_000 } = {}) {
    if (link === undefined) throw new Error('there is no link');
    const node = [process.execPath, PROGRAM];
    const from = [...link.at('a'), ...node];
    const listen = `${link.address('a')}:${PORT}`;
    const { sender } = await room.send(['tree', '--listen', listen, ...send], { command: from, timeoutMs });
    const away = await elsewhere(room);
    const receiver = await room.start(['receive', CODE, '--yes', '--json', '--connect', listen, '--out', 'out'], {
      env: { ...away.env, KD_PATIENCE: '30m' },
      command: [...link.at('b'), ...node],
      timeoutMs,
    });
    return { sender, receiver };
  }

  it('delivers equal files with 2 % loss, reordered packets and 50 ms of jitter', async () => {
    link = await LongLink.open(['--rate', '100', '--delay', '5', '--jitter', '50', '--reorder', '2', '--loss', '2']);
    await writeSmallFiles(room.path('tree', 'small'), 100);
    await writeRandom(room.path('tree', 'large'), 6 << 20);
    expect(await exitsOf(await start())).toEqual({ sender: 0, receiver: 0 });
    expect(await readTree(room.path('out', 'tree'))).toEqual(await readTree(room.path('tree')));
    const report = await link.close();
    for (const direction of [report?.ab, report?.ba]) {
      expect(direction?.lost).toBeGreaterThan(0);
      expect(direction?.overtook).toBeGreaterThan(0);
    }
  });

  // The longer outages run with KD_SOAK=1.
  it.each(SOAK ? [5, 60, 600] : [5])(
    'delivers equal files after an outage of %i s',
    {
      timeout: 900_000,
    },
    async (seconds) => {
      link = await LongLink.open(['--rate', '100', '--delay', '5']);
      await mkdir(room.path('tree'));
      await writeRandom(room.path('tree', 'large'), 16 * MIB);
      const both = await start({ send: ['--limit', '8M'], timeoutMs: 900_000 });
      await both.receiver.until('progress', ({ bytes }) => (bytes as number) >= 4 * MIB);
      link.toggleOutage();
      await sleep(seconds * 1000);
      link.toggleOutage();
      const back = performance.now();
      expect(await exitsOf(both), both.receiver.stdout + both.sender.stdout).toEqual({ sender: 0, receiver: 0 });
      if (SOAK) console.log(`${seconds} s away, complete ${Math.round(performance.now() - back)} ms after that`);
      expect(await readTree(room.path('out', 'tree'))).toEqual(await readTree(room.path('tree')));
      // A session survives 5 s; three missed heartbeats end it.
      const sessions = both.receiver.events().filter(({ event }) => event === 'connected').length;
      expect(sessions).toBe(seconds < 15 ? 1 : 2);
      expect((await link.close())?.ab.outageDrops).toBeGreaterThan(0);
    },
  );
});

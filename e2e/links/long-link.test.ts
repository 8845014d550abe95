// SPDX-License-Identifier: MPL-2.0
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LongLink } from '../harness/long-link.ts';
import { CODE, exitsOf, IS_ROOT, Sandbox } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';
import { PROGRAM } from '../hostile/command.ts';
import { elsewhere } from '../reach/away.ts';

const PORT = 26431;

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

  /** A sender at A and a receiver at B that dials it. */
  async function start(receive: string[] = []) {
    if (link === undefined) throw new Error('there is no link');
    const node = [process.execPath, PROGRAM];
    const from = [...link.at('a'), ...node];
    const listen = `${link.address('a')}:${PORT}`;
    const { sender } = await room.send(['tree', '--listen', listen], { command: from });
    const receiver = await room.start(
      ['receive', CODE, '--yes', '--json', '--connect', listen, '--out', 'out', ...receive],
      { ...(await elsewhere(room)), command: [...link.at('b'), ...node] },
    );
    return { sender, receiver };
  }

  it('ends equal with 2 % loss, packets that overtake and 50 ms of jitter', async () => {
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
});

// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { CODE, exitsOf, IS_ROOT, lastOf, run, Sandbox } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';
import { PROGRAM } from '../hostile/command.ts';
import { elsewhere } from './away.ts';

const NAT = fileURLToPath(new URL('../tools/nat.sh', import.meta.url));
const PREFIX = `kd${process.pid}`;
const SERVER = '203.0.113.1:26431';
const HAS_NFT = spawnSync('nft', ['--version']).status === 0;

describe.skipIf(!IS_ROOT || !HAS_NFT)('two peers, each behind a symmetric NAT (this test needs root, and nft)', () => {
  let room: Sandbox;
  beforeEach(async () => {
    room = await Sandbox.open();
    nat('up', 'sym', 'sym');
    const server = await start('pub', ['relay', '--listen', SERVER, '--json']);
    await server.until('listening');
  });
  afterEach(async () => {
    await room.close();
    nat('down');
  });

  function nat(...args: string[]): void {
    run('env', `NAT_PREFIX=${PREFIX}`, 'bash', NAT, ...args);
  }

  /** Runs the program in one of the namespaces; B has a runtime directory of its own, so that the registry does not help. */
  async function start(where: 'A' | 'B' | 'pub', args: string[]): Promise<Running> {
    const command = ['ip', 'netns', 'exec', `${PREFIX}-${where}`, process.execPath, PROGRAM];
    return room.start(args, { command, ...(where === 'B' && (await elsewhere(room))) });
  }

  async function meet(receive: string[]): Promise<{ sender: Running; receiver: Running }> {
    const sender = await start('A', ['send', 'tree', '--json', '--code', CODE, '--rendezvous', SERVER]);
    await sender.until('rendezvous', ({ state }) => state === 'open');
    const common = ['--yes', '--json', '--out', 'out', '--rendezvous', SERVER];
    return { sender, receiver: await start('B', ['receive', CODE, ...common, ...receive]) };
  }

  it('reach each other through the relay, and the receiver knows why not directly', async () => {
    await writeSmallFiles(room.path('tree', 'small'), 100);
    await writeRandom(room.path('tree', 'large'), 8 << 20);
    const { sender, receiver } = await meet([]);
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
    const { path, tried } = await receiver.until('connected');
    expect(path).toBe('relay');
    expect((await sender.until('connected')).path).toBe('relay');
    const addresses = (tried as { address: string }[]).map(({ address }) => address);
    expect(addresses).toEqual(expect.arrayContaining(['192.168.10.2:26431', '203.0.113.10:26431']));
    expect(await readTree(room.path('out', 'tree'))).toEqual(await readTree(room.path('tree')));
  });

  it('do not with --direct-only, and the receiver says what was tried', async () => {
    await writeSmallFiles(room.path('tree'), 5);
    const { sender, receiver } = await meet(['--direct-only']);
    expect(await receiver.ended).toBe(4);
    expect(lastOf(receiver)).toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: expect.stringMatching(/192\.168\.10\.2:26431 \(direct\).*--direct-only/),
    });
    sender.kill();
  });
});

// SPDX-License-Identifier: MPL-2.0
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { exitsOf, lastOf, Sandbox } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';
import { type RelayServer, receiveAt, sendAt, startRelay } from './away.ts';

const MIB = 1 << 20;
const WELL = { sender: 0, receiver: 0 };

let room: Sandbox;
let relay: RelayServer;
beforeEach(async () => {
  room = await Sandbox.open();
  relay = await startRelay(room);
});
afterEach(() => room.close());

const pathOf = async (side: Running) => (await side.until('connected')).path;

/** The exit codes of both sides, and the paths that they reported. */
async function outcomeOf(sender: Running, receiver: Running) {
  const exits = await exitsOf({ sender, receiver });
  return { exits, paths: [await pathOf(sender), await pathOf(receiver)] };
}

describe('two peers that know only a rendezvous', () => {
  it('meet there and then connect directly, without its relay', async () => {
    await writeSmallFiles(room.path('tree'), 20);
    const sender = await sendAt(relay.address, room, ['tree']);
    const receiver = await receiveAt(relay.address, room);
    expect(await outcomeOf(sender, receiver)).toEqual({ exits: WELL, paths: ['local', 'local'] });
    expect(await readTree(room.path('out', 'tree'))).toEqual(await readTree(room.path('tree')));
  });

  it('send a tree through its relay, on several lanes, with --relay-only', async () => {
    await writeSmallFiles(room.path('tree', 'small'), 300);
    await writeRandom(room.path('tree', 'large'), 24 * MIB);
    const sender = await sendAt(relay.address, room, ['tree', '--relay-only']);
    const receiver = await receiveAt(relay.address, room, ['--relay-only'], { KD_LANES: '3' });
    expect(await outcomeOf(sender, receiver)).toEqual({ exits: WELL, paths: ['relay', 'relay'] });
    expect(await readTree(room.path('out', 'tree'))).toEqual(await readTree(room.path('tree')));
  });

  it('use the relay if one of them refuses all other paths and the other allows it', async () => {
    await writeSmallFiles(room.path('tree'), 5);
    const sender = await sendAt(relay.address, room, ['tree', '--receivers', '2']);
    const strict = await receiveAt(relay.address, room, ['--relay-only']);
    expect([await strict.ended, await pathOf(strict)]).toEqual([0, 'relay']);
    const easy = await receiveAt(relay.address, room, ['--out', 'out2']);
    expect([await easy.ended, await pathOf(easy)]).toEqual([0, 'local']);
    expect(await sender.ended).toBe(0);
  });

  it('report the reason if one allows only a relay and the other none', async () => {
    await writeSmallFiles(room.path('tree'), 5);
    const hidden = await sendAt(relay.address, room, ['tree', '--relay-only']);
    const direct = await receiveAt(relay.address, room, ['--direct-only']);
    expect(await direct.ended).toBe(4);
    expect(lastOf(direct)).toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: expect.stringContaining('--direct-only'),
    });
    hidden.kill();
    await hidden.ended;
    await sendAt(relay.address, room, ['tree', '--direct-only']);
    const relayed = await receiveAt(relay.address, room, ['--relay-only']);
    expect(await relayed.ended).toBe(4);
    expect(lastOf(relayed)).toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: expect.stringContaining('--relay-only'),
    });
  });
});

describe('a transfer through the relay', () => {
  it('continues after either side was killed', async () => {
    await writeRandom(room.path('file'), 48 * MIB);
    const send = () => sendAt(relay.address, room, ['file', '--relay-only', '--limit', '16M']);
    const halfway = (receiver: Running, least: number) =>
      receiver.until('progress', ({ bytes }) => (bytes as number) > least * MIB);
    const sender = await send();
    const first = await receiveAt(relay.address, room, ['--relay-only']);
    await halfway(first, 20);
    first.kill();
    await sender.until('receiverLost');
    const second = await receiveAt(relay.address, room, ['--relay-only']);
    await halfway(second, 30);
    sender.kill();
    expect(await second.ended).toBe(5);
    const again = await send();
    const third = await receiveAt(relay.address, room, ['--relay-only']);
    expect(await exitsOf({ sender: again, receiver: third })).toEqual(WELL);
    expect(lastOf(third)?.resumedBytes).toBeGreaterThan(20 * MIB);
    expect((await readFile(room.path('out', 'file'))).equals(await readFile(room.path('file')))).toBe(true);
  });
});

// SPDX-License-Identifier: MPL-2.0
import { afterEach, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { exitsOf, IS_ROOT, lastOf } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';
import { HAS_MINIUPNPD, HAS_NFT, MAPPED_HOST, type NatType, NatWorld } from './nat-world.ts';

describe.skipIf(!IS_ROOT || !HAS_NFT)('two peers, each behind its own NAT (this test needs root, and nft)', () => {
  let world: NatWorld;
  afterEach(() => world.close());

  async function between(a: NatType, b: NatType): Promise<void> {
    world = await NatWorld.open(a, b);
    await writeSmallFiles(world.room.path('tree', 'small'), 100);
    await writeRandom(world.room.path('tree', 'large'), 8 << 20);
  }

  async function expectArrived(sender: Running, receiver: Running, path: string): Promise<void> {
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
    expect((await receiver.until('connected')).path).toBe(path);
    expect((await sender.until('connected')).path).toBe(path);
    const { room } = world;
    expect(await readTree(room.path('out', 'tree'))).toEqual(await readTree(room.path('tree')));
  }

  it.each([{ lanes: '1' }, { lanes: '3' }])(
    'of the usual kind punch through both, with $lanes lanes',
    async ({ lanes }) => {
      await between('cone', 'cone');
      const began = performance.now();
      const { sender, receiver } = await world.meet([], [], { KD_LANES: lanes });
      await receiver.until('connected');
      console.log(`connected ${Math.round(performance.now() - began)} ms after the sender was started`);
      await expectArrived(sender, receiver, 'punched');
    },
  );

  it.each<[NatType, NatType]>([
    ['cone', 'sym'],
    ['sym', 'cone'],
    ['sym', 'sym'],
  ])('of kinds %s and %s connect through the relay, and the receiver knows why not directly', async (a, b) => {
    await between(a, b);
    const { sender, receiver } = await world.meet();
    await expectArrived(sender, receiver, 'relay');
    const { tried } = await receiver.until('connected');
    const ways = (tried as { transport: string; address: string }[]).map(
      ({ transport, address }) => `${transport} ${address}`,
    );
    expect(ways).toEqual(
      expect.arrayContaining([
        'direct 192.168.10.2:26431',
        'direct 203.0.113.10:26431',
        expect.stringMatching(/^punched 203\.0\.113\.10:/),
      ]),
    );
  });

  it.skipIf(!HAS_MINIUPNPD).each<[string, ('natpmp' | 'upnp')[]]>([
    ['PCP', ['natpmp', 'upnp']],
    ['UPnP', ['upnp']],
  ])(
    "connect to a port that the sender's router maps by %s, where punching fails (needs miniupnpd)",
    async (protocol, served) => {
      await between('sym', 'sym');
      await world.serveMappings(served);
      const sender = await world.send(['--discovery', 'auto']);
      const { address, by } = await sender.until('mapping', ({ state }) => state === 'open');
      expect({ address, by }).toEqual({ address: `${MAPPED_HOST}:26431`, by: protocol });
      expect(world.mappings()).toContain('192.168.10.2:26431');
      const receiver = await world.receive();
      await expectArrived(sender, receiver, 'mapped');
      await expect.poll(() => world.mappings()).not.toContain('192.168.10.2:26431');
    },
  );

  it('use the relay with --relay-only, although punching would work', async () => {
    await between('cone', 'cone');
    const { sender, receiver } = await world.meet([], ['--relay-only']);
    await expectArrived(sender, receiver, 'relay');
    expect((await receiver.until('connected')).tried).toBeUndefined();
  });

  it('do not connect with --direct-only if punching fails, and the receiver lists what it tried', async () => {
    await between('sym', 'sym');
    const { sender, receiver } = await world.meet([], ['--direct-only']);
    expect(await receiver.ended).toBe(4);
    expect(lastOf(receiver)).toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: expect.stringMatching(/192\.168\.10\.2:26431 \(direct\).*--direct-only/),
    });
    sender.kill();
  });
});

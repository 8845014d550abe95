// SPDX-License-Identifier: MPL-2.0
import { mkdir } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { exitsOf, IS_ROOT, lastOf } from '../harness/sandbox.ts';
import { digestOf, writeRandom } from '../harness/tree.ts';
import { HAS_NFT, type NatType, NatWorld } from './nat-world.ts';

const MIB = 1 << 20;
const SIZE = 32 * MIB;
const LANES = 3;

/** B's firewall blocks everything to A's router, until UNBLOCK. */
const BLOCK = 'insert rule ip filter cforward ip daddr 203.0.113.10 drop';
const UNBLOCK = 'flush chain ip filter cforward; add rule ip filter cforward accept';
/** A's router forwards the sender's port to the sender. */
const FORWARD = `
add table ip forward
add chain ip forward first { type nat hook prerouting priority -100; }
add rule ip forward first iifname "wan" tcp dport 26431 dnat to 192.168.10.2
add rule ip filter cforward ct status dnat accept`;

describe.skipIf(!IS_ROOT || !HAS_NFT)(
  'a transfer that started through the relay (this test needs root, and nft)',
  () => {
    let world: NatWorld;
    afterEach(() => world.close());

    function pathsOf(side: Running): unknown[] {
      return side.events().flatMap(({ event, path }) => (event === 'connected' ? [path] : []));
    }

    /** Starts both sides and waits for the first chunks. */
    async function begin(kind: NatType): Promise<{ sender: Running; receiver: Running }> {
      world = await NatWorld.open(kind, kind);
      world.inside('natB', 'nft', BLOCK);
      await mkdir(world.room.path('tree'));
      await writeRandom(world.room.path('tree', 'large'), SIZE);
      const both = await world.meet(['--limit', '5M'], [], { KD_LANES: `${LANES}`, KD_PATIENCE: '1m' });
      await both.receiver.until('progress', ({ bytes }) => (bytes as number) >= 2 * MIB);
      return both;
    }

    /** @returns the paths that the receiver reported, in order */
    async function end(both: { sender: Running; receiver: Running }) {
      expect(await exitsOf(both), both.receiver.stdout + both.sender.stdout).toEqual({ sender: 0, receiver: 0 });
      const { room } = world;
      expect(await digestOf(room.path('out', 'tree', 'large'))).toBe(await digestOf(room.path('tree', 'large')));
      expect(lastOf(both.receiver)).toMatchObject({ event: 'done', files: 1, bytes: SIZE, resumedBytes: 0 });
      return pathsOf(both.receiver);
    }

    it('moves to a path through both NATs when a firewall opens', async () => {
      const both = await begin('cone');
      world.inside('natB', 'nft', UNBLOCK);
      await both.receiver.until('connected', ({ path }) => path === 'punched');
      const relayed = world.relayedBytes();
      const come = both.receiver.events({ progress: true }).findLast(({ event }) => event === 'progress')?.bytes;
      expect(come).toBeLessThan(SIZE - 2 * LANES * MIB);
      expect(await end(both)).toEqual(['relay', 'punched']);
      expect(pathsOf(both.sender)).toEqual(['relay', 'punched']);
      // Each lane finishes its current chunk, and the control connection stays on the relay.
      expect(world.relayedBytes() - relayed).toBeLessThan((LANES + 1) * MIB);
    });

    it('moves to a port that a router starts to forward, and survives the end of the relay', async () => {
      const both = await begin('sym');
      world.inside('natB', 'nft', UNBLOCK);
      world.inside('natA', 'nft', FORWARD);
      await both.receiver.until('connected', ({ path }) => path === 'direct');
      world.killServer();
      expect(await end(both)).toEqual(['relay', 'direct', 'direct']);
      // The first move may not be reported to the sender before the relay ends.
      expect(pathsOf(both.sender).at(-1)).toBe('direct');
    });

    it('stays on the relay if nothing opens', async () => {
      expect(await end(await begin('cone'))).toEqual(['relay']);
      expect(world.relayedBytes()).toBeGreaterThan(SIZE);
    });
  },
);

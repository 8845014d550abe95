// SPDX-License-Identifier: MPL-2.0
import { afterEach, describe, expect, it } from 'vitest';
import { IS_ROOT } from '../harness/sandbox.ts';
import { HAS_MINIUPNPD, HAS_NFT, type NatType, NatWorld, type Place, SECOND_SERVER, SERVER } from './nat-world.ts';

describe.skipIf(!IS_ROOT || !HAS_NFT)(
  'doctor says how other peers reach a machine (this test needs root, and nft)',
  () => {
    let world: NatWorld;
    afterEach(() => world.close());

    /** The checks of doctor by name: `status text`. */
    async function examine(where: Place, args: string[] = []): Promise<Record<string, string>> {
      const servers = ['--rendezvous', SERVER, '--rendezvous', SECOND_SERVER];
      const doctor = await world.start(where, ['doctor', '--json', '--listen', '0.0.0.0:26500', ...servers, ...args]);
      expect(await doctor.ended, doctor.stderr).toBe(0);
      const checks = doctor.events().filter(({ event }) => event === 'check');
      return Object.fromEntries(checks.map(({ name, status, text }) => [name, `${status} ${text}`]));
    }

    it.each<[NatType, RegExp]>([
      ['cone', /^ok .*\(cone\).* 203\.0\.113\.10:(\d+) and 203\.0\.113\.10:\1; it can be punched/],
      ['sym', /^warning .*\(symmetric\).* 203\.0\.113\.10:(\d+) and 203\.0\.113\.10:(?!\1;)/],
    ])('behind a %s NAT', async (type, found) => {
      world = await NatWorld.open(type, 'cone');
      const checks = await examine('A');
      expect(checks.NAT).toMatch(found);
      expect(checks.rendezvous).toBe(`ok ${SERVER}, ${SECOND_SERVER} answers`);
      expect(checks.firewall).toMatch(/^note port 26500 is not reached/);
      expect(checks['port mapping']).toMatch(/^note is not tried/);
    });

    it('without a NAT, with and without a firewall', async () => {
      world = await NatWorld.open('cone', 'cone');
      const open = await examine('natB');
      expect(open.NAT).toBe('ok none: 203.0.113.20 is an address of this machine');
      expect(open.firewall).toMatch(/^note .*not reached/);
      world.inside('natB', 'nft', 'flush', 'chain', 'ip', 'filter', 'cinput');
      expect((await examine('natB')).firewall).toBe('ok port 26500 is reached from outside');
    });

    it.skipIf(!HAS_MINIUPNPD)('behind a router that maps ports (needs miniupnpd)', async () => {
      world = await NatWorld.open('sym', 'cone');
      await world.serveMappings(['natpmp', 'upnp']);
      const checks = await examine('A', ['--discovery', 'auto']);
      expect(checks['port mapping']).toBe('ok the router gives 203.0.114.10:26500 by PCP');
      await expect.poll(() => world.mappings()).not.toContain('192.168.10.2');
    });

    it('when a server does not answer', async () => {
      world = await NatWorld.open('cone', 'cone');
      const checks = await examine('A', ['--rendezvous', '203.0.113.1:9']);
      expect(checks.rendezvous).toMatch(/^warning .*203\.0\.113\.1:9 does not answer/);
      expect(checks.NAT).toMatch(/\(cone\)/);
    });
  },
);

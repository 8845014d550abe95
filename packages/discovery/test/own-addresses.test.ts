// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { reachableAddresses } from '../src/index.ts';

const of = (address: string, internal = false) => ({
  address,
  internal,
  family: isIP(address) === 4 ? ('IPv4' as const) : ('IPv6' as const),
});
const INTERFACES = {
  lo: [of('127.0.0.1', true), of('::1', true)],
  eth0: [of('192.168.1.7'), of('2001:db8::7'), of('2001:db8::8'), of('fe80::1')],
  docker0: [of('172.17.0.1'), of('169.254.3.4')],
  wg0: [of('fd00::7'), of('192.168.1.7')],
};

describe('the addresses a sender announces', () => {
  it.each([
    ['127.0.0.1', ['127.0.0.1']],
    ['192.168.1.7', ['192.168.1.7']],
    ['fe80::1', ['fe80::1']],
    ['0.0.0.0', ['192.168.1.7', '172.17.0.1']],
    ['::', ['2001:db8::7', '192.168.1.7', '2001:db8::8', '172.17.0.1', 'fd00::7']],
  ])('bound to %s are %j', (bound, addresses) => {
    expect(reachableAddresses(bound, INTERFACES)).toEqual(addresses);
  });

  it('include both IP versions and stay within the limit on a machine with many', () => {
    const v4 = Array.from({ length: 40 }, (_, i) => of(`10.0.0.${i}`));
    const v6 = Array.from({ length: 40 }, (_, i) => of(`2001:db8::${i + 1}`));
    const addresses = reachableAddresses('::', { eth0: v4, eth1: v6 });
    expect(addresses).toHaveLength(24);
    expect(addresses.filter((address) => isIP(address) === 4)).toHaveLength(12);
  });

  it('are empty on a machine without a network', () => {
    expect(reachableAddresses('::', { lo: INTERFACES.lo })).toEqual([]);
  });
});

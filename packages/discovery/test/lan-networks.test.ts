// SPDX-License-Identifier: MPL-2.0
import type { NetworkInterfaceInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { assertInterface, isPrivateAddress, lanNetworks } from '../src/lan/lan-networks.ts';

function address(text: string, bits: number, internal = false): NetworkInterfaceInfo {
  const rest = { netmask: '', mac: '', internal, address: text, cidr: `${text}/${bits}` };
  return text.includes(':') ? { ...rest, family: 'IPv6', scopeid: 2 } : { ...rest, family: 'IPv4' };
}

const interfaces = {
  lo: [address('127.0.0.1', 8, true), address('::1', 128, true)],
  eth0: [address('192.168.1.7', 24), address('192.168.1.8', 24), address('2001:db8::7', 64), address('fe80::7', 64)],
  wg0: [address('10.8.0.2', 32)],
};
const shown = (discovery: Parameters<typeof lanNetworks>[0]) =>
  lanNetworks(discovery, interfaces).map(({ interface: name, membership }) => `${name} ${membership}`);

describe('the networks that are searched', () => {
  it('are those of every interface but loopback, once per IP version', () => {
    expect(shown('auto')).toEqual(['eth0 192.168.1.7', 'eth0 ::%eth0', 'wg0 10.8.0.2']);
  });

  it('are those of the named interface only, even if it is loopback', () => {
    expect(shown({ interface: 'lo' })).toEqual(['lo 127.0.0.1']);
    expect(shown({ interface: 'eth9' })).toEqual([]);
  });

  it('are none if discovery is off', () => {
    expect(shown('off')).toEqual([]);
  });

  it('are limited in number', () => {
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`veth${i}`, [address(`10.0.${i}.1`, 24)]]));
    expect(lanNetworks('auto', many)).toHaveLength(32);
  });

  it('contain the addresses of their subnets, and none from behind a router', () => {
    const [v4, v6] = lanNetworks('auto', interfaces);
    const inside = (network: typeof v4, ...list: string[]) => list.map((each) => network?.contains(each));
    expect(inside(v4, '192.168.1.99', '192.168.2.1', '8.8.8.8')).toEqual([true, false, false]);
    expect(inside(v6, 'fe80::1%eth0', 'fe80::1%eth1', '2001:db8::1', '2001:db8:1::1')).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});

it('reports a missing interface and lists the existing ones', () => {
  expect(() => assertInterface({ interface: 'eth9' }, interfaces)).toThrowError(/"eth9".*lo, eth0, wg0/);
  expect(() => assertInterface({ interface: 'eth0' }, interfaces)).not.toThrow();
});

it.each([
  ['10.1.2.3', true],
  ['172.31.0.1', true],
  ['172.32.0.1', false],
  ['169.254.7.7', true],
  ['8.8.8.8', false],
  ['fe80::1%eth0', true],
  ['fd00::1', true],
  ['2001:db8::1', false],
])('%s is private: %s', (text, expected) => {
  expect(isPrivateAddress(text)).toBe(expected);
});

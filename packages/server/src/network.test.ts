// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { GuessLimit } from './guess-limit.ts';
import { NetworkCount, networkOf } from './network.ts';

describe('networkOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0:0:ffff:1:2:3', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::', '2001:db8:0:1::/64'],
    ['::1:2:3:4:5', '0:0:0:1::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('a count of networks', () => {
  /** The total count if each address adds as many as it may. */
  const admitted = (addresses: readonly string[], limit: number): number => {
    const count = new NetworkCount();
    for (const address of addresses) {
      while (count.hasRoom(networkOf(address), limit)) count.add(networkOf(address));
    }
    return addresses.reduce((sum, address) => sum + count.of(networkOf(address)), 0);
  };
  const many = (make: (index: number) => string) => Array.from({ length: 200 }, (_, index) => make(index));

  it.each([
    ['an IPv4 address', ['192.0.2.1'], 10],
    ['an IPv4 /24', many((index) => `192.0.2.${index}`), 40],
    ['a /56', many((index) => `2001:db8:0:${index.toString(16)}::1`), 20],
    ['a /48', many((index) => `2001:db8:0:${(index << 8).toString(16)}::1`), 40],
  ])('applies the limit of %s', (_what, addresses, most) => {
    expect(admitted(addresses, 10)).toBe(most);
  });

  it('does not affect other networks, and frees removed counts', () => {
    const count = new NetworkCount();
    for (const address of many((index) => `192.0.2.${index}`)) {
      if (count.hasRoom(networkOf(address), 1)) count.add(networkOf(address));
    }
    expect(count.hasRoom('192.0.2.250', 1)).toBe(false);
    expect(count.hasRoom('192.0.3.250', 1)).toBe(true);
    for (const last of [0, 1, 2, 3]) count.remove(`192.0.2.${last}`);
    expect([count.hasRoom('192.0.2.250', 1), count.of('192.0.2.0/24')]).toEqual([true, 0]);
  });
});

describe('a guess limit', () => {
  it('refuses only the network with too many misses, until the minute ends', () => {
    let now = 5;
    const limit = new GuessLimit(2, () => now);
    limit.assertMayTry('a');
    limit.miss('a');
    limit.assertMayTry('a');
    limit.miss('a');
    expect(() => limit.assertMayTry('a')).toThrow(expect.objectContaining({ code: 'RENDEZVOUS_BUSY' }));
    limit.assertMayTry('b');
    expect(limit.refused).toBe(1);
    now += 60_000;
    limit.assertMayTry('a');
  });

  it('counts the misses of a /48 together, and does not limit this process', () => {
    const limit = new GuessLimit(30);
    let tried = 0;
    for (let index = 0; index < 1000; index++) {
      const network = networkOf(`2001:db8:0:${(index << 4).toString(16)}::1`);
      try {
        limit.assertMayTry(network);
      } catch {
        break;
      }
      limit.miss(network);
      limit.miss('');
      tried++;
    }
    expect(tried).toBeLessThanOrEqual(120);
    limit.assertMayTry('');
    limit.assertMayTry('192.0.2.1');
  });
});

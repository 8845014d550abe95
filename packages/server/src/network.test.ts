// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { GuessLimit } from './guess-limit.ts';
import { networkOf } from './network.ts';

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

describe('a guess limit', () => {
  it('turns a network away after so many misses, until the minute is over, and no other', () => {
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
});

// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { dialableRelay, mayDialPeer } from '../src/index.ts';

const INTERFACES = {
  eth0: [{ cidr: '192.168.1.5/24' }, { cidr: 'fd00:1::5/64' }, { cidr: '198.51.100.5/24' }],
  tunnel: [{ cidr: '100.101.0.5/32' }],
};
const AFAR = { address: '203.0.113.1' };
const HERE = { address: '127.0.0.1' };

describe('an address that a peer names', () => {
  const dialled = [
    '203.0.113.9',
    '198.51.100.9',
    '2001:db8::9',
    '::ffff:203.0.113.9',
    '192.168.1.9',
    'fd00:1::9',
    '100.64.0.9',
  ];
  it.each(dialled)('%s is dialled', (host) => {
    expect(mayDialPeer(host, AFAR, INTERFACES)).toBe(true);
  });

  const never = [
    '0.0.0.0',
    '0.1.2.3',
    '::',
    '::7f00:1',
    '169.254.1.1',
    'fe80::1',
    'fe80::1%eth0',
    '::ffff:169.254.1.1',
    '224.0.0.251',
    '239.1.2.3',
    '255.255.255.255',
    'ff02::fb',
    '::ffff:224.0.0.1',
  ];
  const names = ['localhost', 'sender.example', '127.1', '2130706433', '0x7f.1'];
  it.each([...never, ...names])('%s is never dialled', (host) => {
    for (const met of [AFAR, HERE]) expect(mayDialPeer(host, met, INTERFACES)).toBe(false);
  });

  it.each(['192.168.2.9', '10.0.0.1', '172.16.0.1', 'fd00:2::9', '::ffff:10.0.0.1', '::ffff:c0a8:209'])(
    '%s is private and outside our networks, so it is never dialled',
    (host) => {
      for (const met of [AFAR, HERE]) expect(mayDialPeer(host, met, INTERFACES)).toBe(false);
    },
  );

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'])(
    '%s is dialled only if we met over loopback',
    (host) => {
      expect(mayDialPeer(host, AFAR, INTERFACES)).toBe(false);
      expect(mayDialPeer(host, { address: '192.168.1.9' }, INTERFACES)).toBe(false);
      expect(mayDialPeer(host, { address: undefined }, INTERFACES)).toBe(false);
      expect(mayDialPeer(host, HERE, INTERFACES)).toBe(true);
      expect(mayDialPeer(host, { address: '::ffff:127.0.0.1' }, INTERFACES)).toBe(true);
    },
  );
});

describe('a relay that a peer or a server names', () => {
  const at = (address: string, host = address) => ({ address, rendezvous: { host, port: 1 }, reachedRendezvous: true });
  const relay = (host: string) => ({ host, port: 9200 });

  it.each([
    ['the host of the rendezvous', '203.0.113.1', at('203.0.113.1')],
    ['the host of the rendezvous, if private', '10.0.0.1', at('10.0.0.1')],
    ['the name of the rendezvous', 'localhost', at('127.0.0.1')],
    ['the address of the name that the user gave', '127.0.0.1', at('127.0.0.1', 'localhost')],
    ['a public address', '198.51.100.9', at('203.0.113.1')],
    ['loopback, if the rendezvous was reached there', '127.0.0.2', at('127.0.0.1')],
  ])('is dialled at %s', async (_where, host, met) => {
    const found = await dialableRelay(relay(host), met);
    expect(found).toEqual({ host: host === 'localhost' ? '127.0.0.1' : host, port: 9200 });
  });

  it.each(['127.0.0.1', '::1', 'localhost', '0.0.0.0', '10.0.0.1', '169.254.1.1', '::ffff:127.0.0.1'])(
    'is not dialled at %s, if the rendezvous was reached at another address',
    async (host) => {
      expect(await dialableRelay(relay(host), at('203.0.113.1'))).toBeUndefined();
    },
  );

  it('must be the rendezvous or named by it, if the peer must not see our address', async () => {
    const met = at('203.0.113.1');
    expect(await dialableRelay(relay('198.51.100.9'), met, { vouched: true })).toBeUndefined();
    expect(await dialableRelay(relay('203.0.113.1'), met, { vouched: true })).toEqual(relay('203.0.113.1'));
    const named = { ...met, relay: relay('198.51.100.9') };
    expect(await dialableRelay(relay('198.51.100.9'), named, { vouched: true })).toEqual(relay('198.51.100.9'));
    expect(await dialableRelay({ ...relay('198.51.100.9'), port: 7 }, named, { vouched: true })).toBeUndefined();
  });
});

// SPDX-License-Identifier: MPL-2.0
import { randomBytes, randomInt } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostPort } from '../src/host-port.ts';
import { ContactAnnouncer } from '../src/lan/contact-announcer.ts';
import {
  asksForEndpoint,
  createEndpointOffers,
  endpointQuery,
  endpointRecordsOf,
  endpointsIn,
  MARKS_OF_OFFER,
} from '../src/lan/contact-records.ts';
import { markOf } from '../src/lan/lan-records.ts';

// Multicast on the loopback interface, which it never leaves, on a port used only by this test.

const MAILBOX = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const LISTENING = { host: '127.0.0.1', port: 26432 };
const many = (count: number) => Array.from({ length: count }, () => randomBytes(32).toString('hex'));

let port: number;
let endpoints: ContactAnnouncer[];
beforeEach(() => {
  port = randomInt(30_000, 60_000);
  endpoints = [];
});
afterEach(async () => {
  await Promise.all(endpoints.map((endpoint) => endpoint.close()));
});

/** An endpoint with the list of what it found, in order. */
function open() {
  const found: (HostPort & { mailbox: string })[] = [];
  let wake = () => {};
  const onFound = (mailbox: string, place: HostPort) => {
    found.push({ mailbox, ...place });
    wake();
  };
  const endpoint = new ContactAnnouncer({ discovery: { interface: 'lo' }, port, onFound });
  endpoints.push(endpoint);
  const until = async (count: number) => {
    while (found.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return found;
  };
  return { endpoint, found, until };
}

describe('endpoints on a network', () => {
  it.each(['before', 'after'])('are found by listeners that start %s the announcement', async (order) => {
    const [theirs, ours] = [open(), open()];
    if (order === 'before') theirs.endpoint.announce(LISTENING, [...many(50), MAILBOX]);
    ours.endpoint.want([OTHER, MAILBOX]);
    if (order === 'after') theirs.endpoint.announce(LISTENING, [...many(50), MAILBOX]);
    expect((await ours.until(1))[0]).toEqual({ mailbox: MAILBOX, ...LISTENING });
    expect(ours.found.every(({ mailbox }) => mailbox === MAILBOX)).toBe(true);
  });

  it('heard earlier are found without a query when they become wanted', async () => {
    const [theirs, ours] = [open(), open()];
    ours.endpoint.want([OTHER]);
    theirs.endpoint.announce(LISTENING, [MAILBOX, OTHER]);
    await ours.until(1);
    const before = ours.found.length;
    ours.endpoint.want([OTHER, MAILBOX]);
    expect(ours.found.slice(before)).toContainEqual({ mailbox: MAILBOX, ...LISTENING });
  });

  it('are announced only where they can be dialled', async () => {
    const [far, near, ours] = [open(), open(), open()];
    far.endpoint.announce({ host: '192.0.2.1', port: 1 }, [OTHER]);
    ours.endpoint.want([OTHER, MAILBOX]);
    near.endpoint.announce(LISTENING, [MAILBOX]);
    await ours.until(2);
    expect(ours.found.filter(({ mailbox }) => mailbox === OTHER)).toEqual([]);
  });
});

describe('the records of an endpoint', () => {
  const offers = createEndpointOffers([...many(40), MAILBOX], 26432);

  it('have a constant number of marks, and are absent without a mailbox', () => {
    expect(offers.map(({ marks }) => marks.length)).toEqual([MARKS_OF_OFFER, MARKS_OF_OFFER]);
    expect(createEndpointOffers([MAILBOX], 1).map(({ marks }) => marks.length)).toEqual([MARKS_OF_OFFER]);
    expect(createEndpointOffers([], 1)).toEqual([]);
    expect(offers.some(({ name, marks }) => marks.includes(markOf(name, MAILBOX)))).toBe(true);
  });

  it('are read back unchanged, as offers and as goodbyes', () => {
    for (const offer of offers) {
      expect(endpointsIn({ answers: endpointRecordsOf(offer, '10.0.0.1', false) })).toEqual([
        { ...offer, gone: false },
      ]);
      expect(endpointsIn({ answers: endpointRecordsOf(offer, 'fe80::1', true) })).toEqual([{ ...offer, gone: true }]);
    }
  });

  it('are not sent to a host that has just heard them', () => {
    const [offer] = offers;
    if (offer === undefined) throw new Error('bug: no offer');
    expect(asksForEndpoint(offer, endpointQuery([]))).toBe(true);
    expect(asksForEndpoint(offer, endpointQuery([{ name: offer.name, ageMs: 1000 }]))).toBe(false);
    expect(asksForEndpoint(offer, endpointQuery([{ name: offer.name, ageMs: 70_000 }]))).toBe(true);
    expect(asksForEndpoint(offer, endpointQuery([{ name: '00'.repeat(8), ageMs: 1000 }]))).toBe(true);
    expect(asksForEndpoint(offer, {})).toBe(false);
  });

  it('from any host give no incomplete offers', () => {
    const records = endpointRecordsOf(offers[0] as (typeof offers)[0], '10.0.0.1', false);
    for (const left of ['SRV', 'TXT'])
      expect(endpointsIn({ answers: records.filter(({ type }) => type !== left) })).toEqual([]);
    const renamed = records.map((each) => ({ ...each, name: each.name.replace('-door', '') }));
    expect(endpointsIn({ answers: renamed })).toEqual([]);
    const flood = records.map((each) =>
      each.type === 'TXT' ? { ...each, data: Array(500).fill(`m=${'a'.repeat(16)}`) } : each,
    );
    expect(endpointsIn({ answers: flood })).toEqual([]);
  });
});

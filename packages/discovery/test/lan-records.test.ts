// SPDX-License-Identifier: MPL-2.0
import { anything, array, assert as assertProperty, constantFrom, oneof, property, record, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asksFor, createOffer, type LanRecord, markOf, offersIn, recordsOf } from '../src/lan/lan-records.ts';

const MAILBOX = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const SERVICE = '_keibidrop._tcp.local';
const offer = createOffer(MAILBOX, 26431);
const instance = `${offer.name}.${SERVICE}`;

/** The records of `offer`, with one of them changed. */
function changed(type: LanRecord['type'], change: object): LanRecord[] {
  return recordsOf(offer, '192.168.1.7', false).map((each) =>
    each.type === type ? ({ ...each, ...change } as LanRecord) : each,
  );
}

describe('the records of an offer', () => {
  it('are read back as the same offer', () => {
    expect(offersIn({ answers: recordsOf(offer, '192.168.1.7', false) })).toEqual([offer]);
    expect(offersIn({ additionals: recordsOf(offer, 'fe80::1', false) })).toEqual([offer]);
  });

  it('have a fresh name and mark per offer, linked only by the mailbox', () => {
    const again = createOffer(MAILBOX, 26431);
    expect(again.name).not.toBe(offer.name);
    expect(again.mark).not.toBe(offer.mark);
    expect(again.mark).toBe(markOf(again.name, MAILBOX));
    expect(again.mark).not.toBe(markOf(again.name, OTHER));
  });

  it('contain only the name, port, version, mark and source address', () => {
    expect(recordsOf({ name: '00112233445566ff', port: 7, mark: 'a'.repeat(16) }, '192.168.1.7', false)).toEqual([
      { type: 'PTR', name: SERVICE, ttl: 120, data: `00112233445566ff.${SERVICE}` },
      {
        type: 'SRV',
        name: `00112233445566ff.${SERVICE}`,
        ttl: 120,
        flush: true,
        data: { port: 7, target: '00112233445566ff.local' },
      },
      { type: 'TXT', name: `00112233445566ff.${SERVICE}`, ttl: 120, flush: true, data: ['v=1', `m=${'a'.repeat(16)}`] },
      { type: 'A', name: '00112233445566ff.local', ttl: 120, flush: true, data: '192.168.1.7' },
    ]);
  });

  it.each<[string, LanRecord[]]>([
    ['a goodbye', recordsOf(offer, '192.168.1.7', true)],
    ['port 0', changed('SRV', { data: { port: 0, target: 'a.local' } })],
    ['another version', changed('TXT', { data: ['v=2', `m=${offer.mark}`] })],
    ['no version', changed('TXT', { data: [`m=${offer.mark}`] })],
    ['a mark that is too long', changed('TXT', { data: ['v=1', `m=${offer.mark}0`] })],
    ['no mark', changed('TXT', { data: ['v=1'] })],
    [
      'more strings than are looked at before the mark',
      changed('TXT', { data: [...Array(99).fill('v=1'), `m=${offer.mark}`] }),
    ],
    ['a text of another name', changed('TXT', { name: `0011223344556677.${SERVICE}` })],
    ['a name that is none of ours', changed('SRV', { name: `printer.${SERVICE}` })],
    ['another service', changed('SRV', { name: `${offer.name}._http._tcp.local` })],
    [
      'more records than are looked at in front',
      [...Array(64).fill({ type: 'A', name: 'a.local', data: '10.0.0.1' }), ...recordsOf(offer, '10.0.0.1', false)],
    ],
  ])('are no offer with %s', (_what, answers) => {
    expect(offersIn({ answers })).toEqual([]);
  });

  it('are recognised in upper and lower case, as DNS demands', () => {
    const upper = recordsOf(offer, '10.0.0.1', false).map((each) => ({ ...each, name: each.name.toUpperCase() }));
    expect(offersIn({ answers: upper })).toEqual([offer]);
  });

  it('give a bounded number of offers and no error, for any packet', () => {
    const name = oneof(string(), constantFrom(instance, SERVICE, instance.toUpperCase()));
    const ours = oneof(string(), constantFrom('v=1', `m=${offer.mark}`));
    const text = record({ type: constantFrom('TXT'), name, data: oneof(anything(), array(ours)) });
    const service = record({ type: constantFrom('SRV'), name, data: record({ port: constantFrom(0, 1, 65535) }) });
    const other = record({ type: constantFrom('PTR', 'A', 'UNKNOWN_99'), name, data: anything() });
    assertProperty(
      property(array(oneof(text, service, other), { maxLength: 200 }), (answers) => {
        const offers = offersIn({ answers: answers as unknown as LanRecord[] });
        expect(offers.length).toBeLessThanOrEqual(64);
        for (const each of offers) expect(each).toMatchObject({ name: offer.name, mark: offer.mark });
        asksFor(offer, { answers: answers as unknown as LanRecord[] });
      }),
    );
  });
});

describe('a question', () => {
  const asking = (name: string, type = 'PTR') => ({ questions: [{ name, type }] }) as Parameters<typeof asksFor>[1];
  const knowing = (ttl: number) => [{ type: 'PTR', name: SERVICE, ttl, data: instance }] as LanRecord[];

  it.each([
    ['the service', asking(SERVICE), true],
    ['the service, in capitals', asking(SERVICE.toUpperCase()), true],
    ['anything about the service', asking(SERVICE, 'ANY'), true],
    ['the offer by its name', asking(instance, 'SRV'), true],
    ['the address of the service', asking(SERVICE, 'A'), false],
    ['another service', asking('_http._tcp.local'), false],
    ['another offer', asking(`0011223344556677.${SERVICE}`, 'SRV'), false],
    ['an offer it has just heard', { ...asking(SERVICE), answers: knowing(120) }, false],
    ['an offer it is about to forget', { ...asking(SERVICE), answers: knowing(59) }, true],
    ['nothing', {}, false],
  ])('about %s is answered or ignored correctly', (_what, query, answered) => {
    expect(asksFor(offer, query)).toBe(answered);
  });

  it('far down in a packet of thousands is ignored', () => {
    const questions = [...Array(32).fill({ name: 'a.local', type: 'A' }), { name: SERVICE, type: 'PTR' as const }];
    expect(asksFor(offer, { questions })).toBe(false);
  });
});

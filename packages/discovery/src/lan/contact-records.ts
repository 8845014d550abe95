// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { QueryOutgoingPacket, QueryPacket, ResponsePacket } from 'multicast-dns';
import { type LanRecord, markOf } from './lan-records.ts';

/** One advertisement of an endpoint, where a user's contacts reach it (PROTOCOL 10). It does not reveal the user. */
export interface EndpointOffer {
  /** Random and new for each offer: 16 lower hex digits. */
  readonly name: string;
  readonly port: number;
  /** One mark per mailbox, by which a contact recognises it, padded with random ones. */
  readonly marks: readonly string[];
}

const SERVICE = '_keibidrop-door._tcp.local';
const VERSION = '1';
const TTL_SECONDS = 120;
/** Marks per packet, which stays under 1000 bytes. The number is constant, so that it does not reveal the number of contacts. */
export const MARKS_OF_OFFER = 32;
/** Limits on what is read of one packet: questions, known answers, records and strings. */
const MAX_QUESTIONS = 32;
const MAX_RECORDS = 64;
const MAX_STRINGS = MARKS_OF_OFFER + 4;
/** Endpoints that a query lists as known; more would make the packet too long. */
const MAX_KNOWN = 24;
const INSTANCE = /^([0-9a-f]{16})\._keibidrop-door\._tcp\.local$/;
const MARK = /^m=([0-9a-f]{16})$/;

/** The offers of an endpoint, under fresh random names. @param mailboxes 32 bytes as lower hex each */
export function createEndpointOffers(mailboxes: readonly string[], port: number): EndpointOffer[] {
  const offers: EndpointOffer[] = [];
  for (let start = 0; start < mailboxes.length; start += MARKS_OF_OFFER) {
    const name = randomBytes(8).toString('hex');
    const marks = mailboxes.slice(start, start + MARKS_OF_OFFER).map((mailbox) => markOf(name, mailbox));
    while (marks.length < MARKS_OF_OFFER) marks.push(randomBytes(8).toString('hex'));
    // Sorting hides which marks are padding.
    offers.push({ name, port, marks: marks.sort() });
  }
  return offers;
}

/** The query that every endpoint answers, except those listed as heard a moment ago. */
export function endpointQuery(heard: readonly { name: string; ageMs: number }[]): QueryOutgoingPacket {
  const known = heard.slice(0, MAX_KNOWN).flatMap(({ name, ageMs }): LanRecord[] => {
    const ttl = TTL_SECONDS - Math.ceil(ageMs / 1000);
    return ttl < TTL_SECONDS / 2 ? [] : [{ type: 'PTR', name: SERVICE, ttl, data: instanceOf(name) }];
  });
  return { questions: [{ type: 'PTR', name: SERVICE }], answers: known };
}

/** Whether a query asks for endpoints and does not list this one as known (RFC 6762 7.1). @param query  from any host on the network */
export function asksForEndpoint(
  { name }: EndpointOffer,
  { questions = [], answers = [] }: Pick<Partial<QueryPacket>, 'questions' | 'answers'>,
): boolean {
  const asked = questions
    .slice(0, MAX_QUESTIONS)
    .some((question) => question.name.toLowerCase() === SERVICE && ['PTR', 'ANY'].includes(question.type));
  const known = (answer: LanRecord) =>
    answer.type === 'PTR' && answer.data === instanceOf(name) && (answer.ttl ?? 0) >= TTL_SECONDS / 2;
  return asked && !answers.slice(0, MAX_RECORDS).some(known);
}

/** The records of one offer, sent as one packet, in the form of a sender's records (PROTOCOL 2.4). */
export function endpointRecordsOf({ name, port, marks }: EndpointOffer, address: string, gone: boolean): LanRecord[] {
  const ttl = gone ? 0 : TTL_SECONDS;
  const instance = instanceOf(name);
  const target = `${name}.local`;
  const data = [`v=${VERSION}`, ...marks.map((mark) => `m=${mark}`)];
  return [
    { type: 'PTR', name: SERVICE, ttl, data: instance },
    { type: 'SRV', name: instance, ttl, flush: true, data: { port, target } },
    { type: 'TXT', name: instance, ttl, flush: true, data },
    { type: isIPv6(address) ? 'AAAA' : 'A', name: target, ttl, flush: true, data: address },
  ];
}

/**
 * The endpoints in a response. Skips records that are not a complete endpoint, and ignores addresses in records.
 * @param response  from any host on the network
 */
export function endpointsIn({
  answers = [],
  additionals = [],
}: Partial<ResponsePacket>): (EndpointOffer & { gone: boolean })[] {
  const records = [...answers.slice(0, MAX_RECORDS), ...additionals.slice(0, MAX_RECORDS)].slice(0, MAX_RECORDS);
  const texts = new Map(
    records.flatMap((record) =>
      record.type === 'TXT' ? [[record.name.toLowerCase(), marksIn(record.data)] as const] : [],
    ),
  );
  return records.flatMap((record) => {
    if (record.type !== 'SRV') return [];
    const name = INSTANCE.exec(record.name.toLowerCase())?.[1];
    const marks = texts.get(record.name.toLowerCase()) ?? [];
    const { port } = record.data;
    return name !== undefined && marks.length > 0 && port > 0 ? [{ name, port, marks, gone: record.ttl === 0 }] : [];
  });
}

function marksIn(data: unknown): string[] {
  const strings = (Array.isArray(data) ? data : [data]).slice(0, MAX_STRINGS).map(String);
  return strings.includes(`v=${VERSION}`) ? strings.flatMap((text) => MARK.exec(text)?.[1] ?? []) : [];
}

function instanceOf(name: string): string {
  return `${name}.${SERVICE}`;
}

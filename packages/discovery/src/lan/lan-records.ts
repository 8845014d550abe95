// SPDX-License-Identifier: MPL-2.0
import { createHash, randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { QueryPacket, ResponsePacket } from 'multicast-dns';

/** One sender's advertisement (PROTOCOL 2.4). It does not reveal who the sender is. */
export interface LanOffer {
  /** Random and new for each offer: 16 lower hex digits. */
  readonly name: string;
  readonly port: number;
  /** Lets a receiver that knows the mailbox recognise the offer: 16 lower hex digits. */
  readonly mark: string;
}

/** A resource record. */
export type LanRecord = NonNullable<ResponsePacket['answers']>[number];

/** RFC 6762 3 */
export const MDNS_PORT = 5353;
const SERVICE = '_keibidrop._tcp.local';
const VERSION = '1';
/** Seconds for which others may cache the records; 0 in a goodbye. */
const TTL_SECONDS = 120;
/** Limits on what is read of one packet: questions, records, strings. Our own packets have one, four and two. */
const MAX_QUESTIONS = 32;
const MAX_RECORDS = 64;
const MAX_STRINGS = 16;

const ASKING: readonly string[] = ['PTR', 'ANY'];
const INSTANCE = /^([0-9a-f]{16})\._keibidrop\._tcp\.local$/;
const MARK = /^m=([0-9a-f]{16})$/;

/** A new offer under a fresh random name. @param mailbox  32 bytes as lower hex */
export function createOffer(mailbox: string, port: number): LanOffer {
  const name = randomBytes(8).toString('hex');
  return { name, port, mark: markOf(name, mailbox) };
}

/** The mark of a mailbox under an offer's name. Hashing the name makes two offers of one nameplate unlinkable. */
export function markOf(name: string, mailbox: string): string {
  const hash = createHash('sha256').update(`KeibiDrop LAN v1${name}`).update(mailbox, 'hex');
  return hash.digest('hex').slice(0, 16);
}

/** The question that every sender answers. */
export function lanQuestion(): NonNullable<QueryPacket['questions']> {
  return [{ type: 'PTR', name: SERVICE }];
}

/**
 * Whether a query asks for this offer and does not list it as known (RFC 6762 7.1).
 * @param query  from any host on the network
 */
export function asksFor({ name }: LanOffer, { questions = [], answers = [] }: Partial<QueryPacket>): boolean {
  const instance = instanceOf(name);
  const asked = questions.slice(0, MAX_QUESTIONS).some((question) => {
    const about = question.name.toLowerCase();
    return about === instance || (about === SERVICE && ASKING.includes(question.type));
  });
  const known = (answer: LanRecord) =>
    answer.type === 'PTR' && answer.data === instance && (answer.ttl ?? 0) >= TTL_SECONDS / 2;
  return asked && !answers.slice(0, MAX_RECORDS).some(known);
}

/**
 * The records of an offer, sent as one packet.
 * @param address  of the outgoing interface; no other is listed, since every receiver sees this one anyway
 * @param gone     the offer has ended (RFC 6762 10.1)
 */
export function recordsOf({ name, port, mark }: LanOffer, address: string, gone: boolean): LanRecord[] {
  const ttl = gone ? 0 : TTL_SECONDS;
  const instance = instanceOf(name);
  const target = `${name}.local`;
  return [
    { type: 'PTR', name: SERVICE, ttl, data: instance },
    { type: 'SRV', name: instance, ttl, flush: true, data: { port, target } },
    { type: 'TXT', name: instance, ttl, flush: true, data: [`v=${VERSION}`, `m=${mark}`] },
    { type: isIPv6(address) ? 'AAAA' : 'A', name: target, ttl, flush: true, data: address },
  ];
}

/**
 * The offers in a response. Skips other services, incomplete offers and goodbyes.
 *
 * Ignores addresses in records: only the source of the packet is worth dialling.
 *
 * @param response  from any host on the network
 */
export function offersIn({ answers = [], additionals = [] }: Partial<ResponsePacket>): LanOffer[] {
  const records = [...answers.slice(0, MAX_RECORDS), ...additionals.slice(0, MAX_RECORDS)].slice(0, MAX_RECORDS);
  const marks = new Map(records.flatMap((record) => (record.type === 'TXT' ? markIn(record.name, record.data) : [])));
  return records.flatMap((record) => {
    if (record.type !== 'SRV' || record.ttl === 0) return [];
    const name = INSTANCE.exec(record.name.toLowerCase())?.[1];
    const mark = marks.get(record.name.toLowerCase());
    const { port } = record.data;
    return name !== undefined && mark !== undefined && port > 0 ? [{ name, port, mark }] : [];
  });
}

function markIn(owner: string, data: unknown): [string, string][] {
  const strings = (Array.isArray(data) ? data : [data]).slice(0, MAX_STRINGS).map(String);
  const mark = strings.map((text) => MARK.exec(text)?.[1]).find((found) => found !== undefined);
  return mark !== undefined && strings.includes(`v=${VERSION}`) ? [[owner.toLowerCase(), mark]] : [];
}

function instanceOf(name: string): string {
  return `${name}.${SERVICE}`;
}

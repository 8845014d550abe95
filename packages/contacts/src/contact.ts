// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import {
  fileNewer,
  foldName,
  formatFingerprint,
  isSameFingerprint,
  KEM_KEY_BYTES,
  KeibiError,
  parseCode,
  parseFingerprint,
  X25519_BYTES,
} from '@keibidrop/protocol';
import type { PublicKeys } from '@keibidrop/session';
import { lookOf, mixesScripts } from './look-alike.ts';

/** How a contact's invitation is handled: ask the user, receive it into a folder at once, or refuse it. */
export type ContactRule =
  | { readonly kind: 'ask' }
  /** `folder`: absolute. */
  | { readonly kind: 'accept'; readonly folder: string }
  | { readonly kind: 'never' };

/** A saved peer. */
export interface Contact {
  readonly name: string;
  readonly fingerprint: Uint8Array;
  /** Missing for a contact that was added by its fingerprint, until the first meeting. */
  readonly keys?: PublicKeys;
  /** Two people have compared the fingerprints. */
  readonly verified: boolean;
  readonly blocked: boolean;
  readonly rule: ContactRule;
  /** It has once come by the mailbox of both keys, so we no longer visit the first-contact mailbox. */
  readonly paired: boolean;
  readonly added: Date;
  readonly lastSeen?: Date;
  /** Our fingerprint that it knows, if we have since given that one up. */
  readonly knowsFormer?: Uint8Array;
  /** Its last changes of identity, in order. */
  readonly renewals?: readonly Renewal[];
}

/** A change of a contact's identity. */
export interface Renewal {
  /** The fingerprint before the change. */
  readonly from: Uint8Array;
  readonly at: Date;
}

const VERSION = 1;
export const MAX_CONTACTS = 1000;
/** Limit of identity changes that a contact may announce within a day. As many are stored. */
export const MAX_RENEWALS_A_DAY = 4;
const DAY_MS = 86_400_000;
const MAX_NAME_CHARACTERS = 64;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Returns a name in its stored form, without white space around it. @throws USAGE */
export function parseContactName(text: string): string {
  const name = keptName(text);
  if (mixesScripts(name)) {
    throw usage('A word of that name mixes letters of several alphabets that look alike. Use one alphabet for a word.');
  }
  return name;
}

/** Like `parseContactName`, without the later rules, so that old files stay readable. */
function keptName(text: string): string {
  const name = text.trim().normalize('NFC');
  const length = [...name].length;
  if (length < 1 || length > MAX_NAME_CHARACTERS || UNSEEN.test(name)) {
    throw usage(`A contact’s name has 1 to ${MAX_NAME_CHARACTERS} characters, all of them visible.`);
  }
  if (name.startsWith('-')) throw usage('A contact’s name cannot begin with a dash: it would be taken for an option.');
  if (isCode(name)) throw usage('That looks like a code. Choose another name.');
  return name;
}

/** Whether a person may confuse two different names. */
export function looksLike(one: string, other: string): boolean {
  return lookOf(one) === lookOf(other);
}

/** @throws USAGE if the fingerprint is our own */
export function assertOthers(fingerprint: Uint8Array, own: Uint8Array): void {
  if (!isSameFingerprint(fingerprint, own)) return;
  throw usage('That is your own fingerprint. Add the one that keibidrop id shows on the other computer.');
}

/** Whether one more change of identity exceeds this contact's daily limit. */
export function renewsTooOften({ renewals = [] }: Pick<Contact, 'renewals'>, now: Date): boolean {
  const recent = renewals.filter(({ at }) => Math.abs(now.getTime() - at.getTime()) < DAY_MS);
  return recent.length >= MAX_RENEWALS_A_DAY;
}

/** When the contact took a new identity that no person has compared yet; undefined if it took none. */
export function uncomparedSince({ verified, renewals }: Pick<Contact, 'verified' | 'renewals'>): Date | undefined {
  return verified ? undefined : renewals?.at(-1)?.at;
}

/** Whether people read two names as the same. */
export function isSameName(one: string, other: string): boolean {
  return foldName(one.trim()) === foldName(other.trim());
}

/** Encodes the contacts as JSON that a person can read and repair. */
export function encodeContacts(contacts: readonly Contact[]): Uint8Array {
  const kept = contacts.map(({ fingerprint, keys, added, lastSeen, knowsFormer, renewals, ...rest }) => ({
    ...rest,
    fingerprint: formatFingerprint(fingerprint),
    ...(keys && { keys: { x25519: base64url(keys.x25519), kem: base64url(keys.kem) } }),
    added: added.toISOString(),
    ...(lastSeen && { lastSeen: lastSeen.toISOString() }),
    ...(knowsFormer && { knowsFormer: formatFingerprint(knowsFormer) }),
    ...(renewals && {
      renewals: renewals.map(({ from, at }) => ({ from: formatFingerprint(from), at: at.toISOString() })),
    }),
  }));
  return new TextEncoder().encode(`${JSON.stringify({ version: VERSION, contacts: kept }, null, 2)}\n`);
}

/**
 * Decodes the output of `encodeContacts`.
 *
 * @throws FILE_NEWER; CONTACTS_CORRUPT for anything else, naming the flaw; a damaged entry is never left out
 */
export function decodeContacts(file: Uint8Array): Contact[] {
  const { version, contacts } = objectOf(parsed(file), 'It is not a file of contacts.');
  if (typeof version === 'number' && version > VERSION) throw fileNewer('The file of contacts');
  if (version !== VERSION || !Array.isArray(contacts)) throw corrupt('It is not a file of contacts.');
  if (contacts.length > MAX_CONTACTS) throw corrupt(`It has more than ${MAX_CONTACTS} contacts.`);
  const decoded = contacts.map((entry, i) => decodeContact(entry, i + 1));
  decoded.forEach((contact, i) => {
    const again = decoded.slice(0, i).some((other) => clashes(contact, other));
    if (again) throw corrupt(`Contact ${i + 1} has the name or the fingerprint of an earlier one.`);
  });
  return decoded;
}

/** Whether the two cannot both be stored. */
export function clashes(one: Pick<Contact, 'name' | 'fingerprint'>, other: Contact): boolean {
  return isSameName(one.name, other.name) || isSameFingerprint(one.fingerprint, other.fingerprint);
}

function decodeContact(value: unknown, number: number): Contact {
  const wrong = (what: string) => corrupt(`Contact ${number} has ${what}.`);
  const entry = objectOf(value, `Contact ${number} is invalid.`);
  const { name, verified, blocked, paired } = entry;
  if (typeof name !== 'string' || !isName(name)) throw wrong('an impossible name');
  for (const [what, flag] of Object.entries({ verified, blocked, paired })) {
    if (typeof flag !== 'boolean') throw wrong(`no “${what}”`);
  }
  const fingerprint = fingerprintIn(entry.fingerprint) ?? raise(wrong('no fingerprint'));
  const keys = entry.keys === undefined ? undefined : (keysIn(entry.keys) ?? raise(wrong('keys that are none')));
  if (keys !== undefined && !isSameFingerprint(digestOf(keys), fingerprint)) {
    throw wrong('keys that are not those of its fingerprint');
  }
  const added = dateIn(entry.added) ?? raise(wrong('no day on which it was added'));
  const lastSeen =
    entry.lastSeen === undefined ? undefined : (dateIn(entry.lastSeen) ?? raise(wrong('an impossible “lastSeen”')));
  const knowsFormer =
    entry.knowsFormer === undefined
      ? undefined
      : (fingerprintIn(entry.knowsFormer) ?? raise(wrong('an impossible “knowsFormer”')));
  const renewals =
    entry.renewals === undefined ? undefined : (renewalsIn(entry.renewals) ?? raise(wrong('impossible “renewals”')));
  return {
    name,
    fingerprint,
    ...(keys && { keys }),
    verified: verified === true,
    blocked: blocked === true,
    rule: ruleIn(entry.rule) ?? raise(wrong('an unknown rule')),
    paired: paired === true,
    added,
    ...(lastSeen && { lastSeen }),
    ...(knowsFormer && { knowsFormer }),
    ...(renewals && { renewals }),
  };
}

function renewalsIn(value: unknown): Renewal[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_RENEWALS_A_DAY) return undefined;
  const renewals = value.flatMap((entry: { from?: unknown; at?: unknown } | null) => {
    const [from, at] = [fingerprintIn(entry?.from), dateIn(entry?.at)];
    return from && at ? [{ from, at }] : [];
  });
  return renewals.length === value.length ? renewals : undefined;
}

function ruleIn(value: unknown): ContactRule | undefined {
  const { kind, folder } = (value ?? {}) as Record<string, unknown>;
  if (kind === 'ask' || kind === 'never') return { kind };
  return kind === 'accept' && typeof folder === 'string' && isAbsolute(folder) ? { kind, folder } : undefined;
}

function keysIn(value: unknown): PublicKeys | undefined {
  const { x25519, kem } = (value ?? {}) as Record<string, unknown>;
  const keys = { x25519: bytesIn(x25519), kem: bytesIn(kem) };
  return keys.x25519.length === X25519_BYTES && keys.kem.length === KEM_KEY_BYTES ? keys : undefined;
}

function fingerprintIn(value: unknown): Uint8Array | undefined {
  try {
    return typeof value === 'string' ? parseFingerprint(value) : undefined;
  } catch {
    return undefined;
  }
}

function isName(name: string): boolean {
  try {
    return keptName(name) === name;
  } catch {
    return false;
  }
}

function isCode(name: string): boolean {
  try {
    return parseCode(name) !== undefined;
  } catch {
    return false;
  }
}

function dateIn(value: unknown): Date | undefined {
  const date = new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/**
 * The fingerprint of public keys (PROTOCOL 9). It avoids loading the libraries that a command without meetings does not
 * need.
 */
export function digestOf({ x25519, kem }: PublicKeys): Uint8Array {
  return createHash('sha512').update(x25519).update(kem).digest();
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

function bytesIn(value: unknown): Uint8Array {
  return typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64url')) : new Uint8Array();
}

function parsed(file: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(file));
  } catch {
    throw corrupt('It is cut short or damaged.');
  }
}

function objectOf(value: unknown, otherwise: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw corrupt(otherwise);
  return value as Record<string, unknown>;
}

function raise(error: KeibiError): never {
  throw error;
}

function usage(message: string): KeibiError {
  return new KeibiError('USAGE', message);
}

function corrupt(what: string): KeibiError {
  return new KeibiError('CONTACTS_CORRUPT', what);
}

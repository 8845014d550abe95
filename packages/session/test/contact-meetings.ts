// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import {
  IDENTITY_SEED_BYTES,
  type IdentityKeys,
  identityFromSeed,
  type PublicKeys,
} from '../src/keys/identity-keys.ts';
import { PairKey } from '../src/keys/pair-key.ts';
import {
  type MetContact,
  meetContactAsGuest,
  meetContactAsOwner,
  type OwnerMeetingOptions,
} from '../src/meeting/contact-meeting.ts';
import { type AlterBody, messagePipes, type Sender } from './message-pipes.ts';

export const signal = new AbortController().signal;

/** An identity that is the same in every run. */
export function person(number: number): Promise<IdentityKeys> {
  return identityFromSeed(new Uint8Array(IDENTITY_SEED_BYTES).fill(number));
}

export function publicKeys({ x25519, kem }: IdentityKeys): PublicKeys {
  return { x25519: x25519.public, kem: kem.publicKey };
}

/** One side: its identity, and its key for the contact it expects. */
export interface Party {
  self: IdentityKeys;
  pair: PairKey;
}

/** Two contacts that know each other's keys. */
export async function acquainted(guest: IdentityKeys, owner: IdentityKeys): Promise<Record<Sender, Party>> {
  return {
    guest: { self: guest, pair: await PairKey.of(guest, publicKeys(owner)) },
    owner: { self: owner, pair: await PairKey.of(owner, publicKeys(guest)) },
  };
}

/** Two contacts that know each other's fingerprints. */
export async function announced(guest: IdentityKeys, owner: IdentityKeys): Promise<Record<Sender, Party>> {
  return {
    guest: { self: guest, pair: await PairKey.ofFingerprints(guest.fingerprint, owner.fingerprint) },
    owner: { self: owner, pair: await PairKey.ofFingerprints(owner.fingerprint, guest.fingerprint) },
  };
}

export type Result = MetContact | KeibiError;

/** Runs one meeting until both sides end. */
export async function meetContacts(
  parties: Record<Sender, Party>,
  alter?: AlterBody,
  options: Partial<OwnerMeetingOptions> = {},
): Promise<Record<Sender, Result>> {
  const pipes = messagePipes(alter);
  const [guest, owner] = await Promise.all([
    meetContactAsGuest(pipes.guest, { ...parties.guest, signal }).catch(asKeibiError),
    meetContactAsOwner(pipes.owner, { ...parties.owner, signal, ...options }).catch(asKeibiError),
  ]);
  return { guest, owner };
}

/** How each side ended: `ok` or the code of its error. */
export function codesOf(results: Record<Sender, Result>): Record<Sender, string> {
  const codeOf = (result: Result) => (result instanceof KeibiError ? result.code : 'ok');
  return { guest: codeOf(results.guest), owner: codeOf(results.owner) };
}

export function met(result: Result): MetContact {
  if (result instanceof KeibiError) throw result;
  return result;
}

function asKeibiError(error: unknown): KeibiError {
  if (error instanceof KeibiError) return error;
  throw error;
}

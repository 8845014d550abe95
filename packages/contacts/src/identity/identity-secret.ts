// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import {
  drawIdentitySeed,
  IDENTITY_SEED_BYTES,
  type IdentityKeys,
  identityFromSeed,
  type LockKind,
} from '@keibidrop/session';

/** This peer, as its contacts know it. */
export interface Identity {
  readonly keys: IdentityKeys;
  readonly created: Date;
  readonly lock: LockKind;
}

const TIME_BYTES = 8;
/** `| made, milliseconds since 1970 8 | seed 96 |` (PROTOCOL 9) */
export const SECRET_BYTES = TIME_BYTES + IDENTITY_SEED_BYTES;

/** Draws a new identity. */
export async function newSecret(): Promise<Uint8Array> {
  const seed = await drawIdentitySeed();
  const secret = new Uint8Array(SECRET_BYTES);
  new DataView(secret.buffer).setBigUint64(0, BigInt(Date.now()));
  secret.set(seed, TIME_BYTES);
  seed.fill(0);
  return secret;
}

/** The fingerprint of the identity in a secret. The caller keeps ownership. */
export async function fingerprintIn(secret: Uint8Array): Promise<Uint8Array> {
  const { keys } = await identityOf(secret.slice(), 'key');
  keys.wipe();
  return keys.fingerprint;
}

/** Derives the keys of a secret, and wipes the secret. */
export async function identityOf(secret: Uint8Array, lock: LockKind): Promise<Identity> {
  if (secret.length !== SECRET_BYTES) throw new KeibiError('IDENTITY_CORRUPT');
  const created = new Date(Number(new DataView(secret.buffer, secret.byteOffset).getBigUint64(0)));
  const keys = await identityFromSeed(secret.subarray(TIME_BYTES));
  secret.fill(0);
  return { keys, created, lock };
}

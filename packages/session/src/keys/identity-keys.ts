// SPDX-License-Identifier: MPL-2.0
import { X25519_BYTES } from '@keibidrop/protocol';
import { sha512 } from './hkdf.ts';
import { loadSodium, type Sodium, wipe } from './sodium.ts';

/** The seed of ML-KEM's key generation, d || z (FIPS 203 7.1). */
const KEM_SEED_BYTES = 64;
/** Length of an identity's seed, the only part to be stored: the X25519 secret and the seed of the ML-KEM-1024 keys. */
export const IDENTITY_SEED_BYTES = X25519_BYTES + KEM_SEED_BYTES;

/** The public part of an identity: 32 and 1568 bytes. */
export interface PublicKeys {
  readonly x25519: Uint8Array;
  readonly kem: Uint8Array;
}

/**
 * The value that people compare to verify an identity: SHA-512(X25519 public key || ML-KEM-1024 encapsulation key), 64
 * bytes (PROTOCOL 9).
 */
export function fingerprintOf(sodium: Sodium, { x25519, kem }: PublicKeys): Uint8Array {
  return sha512(sodium, x25519, kem);
}

/** As `fingerprintOf`, for packages without libsodium at hand. */
export async function fingerprintOfKeys(keys: PublicKeys): Promise<Uint8Array> {
  return fingerprintOf(await loadSodium(), keys);
}

/** The long-term keys of a peer. */
export interface IdentityKeys {
  readonly x25519: { readonly secret: Uint8Array; readonly public: Uint8Array };
  readonly kem: { readonly secretKey: Uint8Array; readonly publicKey: Uint8Array };
  readonly fingerprint: Uint8Array;
  wipe(): void;
}

/** Draws a new identity. The caller wipes it. */
export async function drawIdentitySeed(): Promise<Uint8Array> {
  const sodium = await loadSodium();
  return sodium.randombytes_buf(IDENTITY_SEED_BYTES);
}

/** Derives the keys of a seed, always the same. The caller keeps ownership of the seed. */
export async function identityFromSeed(seed: Uint8Array): Promise<IdentityKeys> {
  // Not the addon's ML-KEM: it draws its own seeds.
  const [sodium, { ml_kem1024: kem }] = await Promise.all([loadSodium(), import('@noble/post-quantum/ml-kem.js')]);
  const secret = seed.slice(0, X25519_BYTES);
  const kemKeys = kem.keygen(seed.subarray(X25519_BYTES));
  const publicKey = sodium.crypto_scalarmult_base(secret);
  return {
    x25519: { secret, public: publicKey },
    kem: kemKeys,
    fingerprint: fingerprintOf(sodium, { x25519: publicKey, kem: kemKeys.publicKey }),
    wipe: () => wipe(secret, kemKeys.secretKey),
  };
}

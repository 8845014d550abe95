// SPDX-License-Identifier: MPL-2.0

import { KeibiError, X25519_BYTES } from '@keibidrop/protocol';
import { loadKem, type MlKem1024 } from '../keys/kem.ts';
import { loadSodium, type Sodium, wipe } from '../keys/sodium.ts';
import type { Role } from './key-schedule.ts';

/** The libraries and the ephemeral keys of one handshake. Never reuse them for another. */
export interface PreparedHandshake {
  readonly sodium: Sodium;
  readonly kem: MlKem1024;
  readonly x25519: { readonly secret: Uint8Array; readonly public: Uint8Array };
  /** Only the initiator has them. */
  readonly kemKeys: { readonly secretKey: Uint8Array; readonly publicKey: Uint8Array } | undefined;
  wipe(): void;
}

/**
 * Loads the libraries and draws the ephemeral keys of one handshake. The first call in a process takes tens of
 * milliseconds, so start it before the connection exists.
 */
export async function prepareHandshake(role: Role): Promise<PreparedHandshake> {
  const { sodium, kem } = await loadLibraries();
  const secret = sodium.randombytes_buf(X25519_BYTES);
  const x25519 = { secret, public: sodium.crypto_scalarmult_base(secret) };
  const kemKeys = role === 'initiator' ? kem.keygen() : undefined;
  return { sodium, kem, x25519, kemKeys, wipe: () => wipe(secret, kemKeys?.secretKey) };
}

let warm: Promise<void> | undefined;

/**
 * Prepares a responder while it waits, so that the first initiator does not wait for libraries to load or for a
 * JavaScript ML-KEM to compile. It runs once, in one go: call it when nothing is more urgent.
 */
export function warmUpHandshakes(): Promise<void> {
  warm ??= loadLibraries().then(({ kem }) => {
    const throwaway = kem.keygen();
    kem.encapsulate(throwaway.publicKey);
    wipe(throwaway.secretKey);
  });
  return warm;
}

async function loadLibraries(): Promise<{ sodium: Sodium; kem: MlKem1024 }> {
  const [sodium, kem] = await Promise.all([loadSodium(), loadKem()]);
  return { sodium, kem };
}

/** @throws HANDSHAKE_MALFORMED for a share that would make the secret all zeros (PROTOCOL 3, RFC 7748 6.1) */
export function x25519Secret(prepared: PreparedHandshake, peerShare: Uint8Array): Uint8Array {
  try {
    return prepared.sodium.crypto_scalarmult(prepared.x25519.secret, peerShare);
  } catch (cause) {
    throw new KeibiError('HANDSHAKE_MALFORMED', undefined, { cause });
  }
}

/** @throws HANDSHAKE_MALFORMED for a key whose coefficients are out of range (FIPS 203 7.2) */
export function encapsulated(kem: MlKem1024, key: Uint8Array): { cipherText: Uint8Array; sharedSecret: Uint8Array } {
  try {
    return kem.encapsulate(key);
  } catch (cause) {
    throw new KeibiError('HANDSHAKE_MALFORMED', undefined, { cause });
  }
}

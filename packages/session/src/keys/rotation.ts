// SPDX-License-Identifier: MPL-2.0
import { KeibiError, ROTATION_PROOF_BYTES } from '@keibidrop/protocol';
import { encapsulated } from '../handshake/ephemeral.ts';
import { expand, extract, sha512 } from './hkdf.ts';
import { fingerprintOf, type IdentityKeys, type PublicKeys } from './identity-keys.ts';
import { loadKem } from './kem.ts';
import { loadSodium, type Sodium, wipe } from './sodium.ts';

// A contact proves, in a conversation under its former identity, that it holds the secrets of a new one (PROTOCOL 10.6):
//
//   announcer -> ROTATE (new public keys)    <- ROTATE-TEST (a ciphertext for the new ML-KEM key)
//   announcer -> ROTATE-PROOF                <- ROTATED (the contact's proof)

/** The proofs of one test. Each side computes both. */
export interface RotationProofs {
  readonly announcer: Uint8Array;
  readonly contact: Uint8Array;
}

/**
 * The contact's side: tests whether the announcer holds the secrets of `fresh`.
 *
 * @param rotation.former  fingerprint of the announcer in this conversation
 * @param rotation.self  our identity in this conversation
 * @throws HANDSHAKE_MALFORMED for invalid keys
 */
export async function testRotation({
  former,
  fresh,
  self,
}: {
  former: Uint8Array;
  fresh: PublicKeys;
  self: IdentityKeys;
}): Promise<{ ciphertext: Uint8Array; proofs: RotationProofs }> {
  const [sodium, kem] = await Promise.all([loadSodium(), loadKem()]);
  const shared = x25519Of(sodium, self, fresh);
  const { cipherText, sharedSecret } = encapsulated(kem, fresh.kem);
  const proofs = proofsOf(sodium, {
    fingerprints: [former, fingerprintOf(sodium, fresh), self.fingerprint],
    ciphertext: cipherText,
    secrets: [shared, sharedSecret],
  });
  return { ciphertext: cipherText, proofs };
}

/**
 * The announcer's side: answers the contact's test.
 *
 * @param rotation.former  our fingerprint in this conversation
 * @param rotation.fresh  our new identity
 * @param rotation.contact  the contact's keys, as proved in this conversation
 * @throws HANDSHAKE_MALFORMED for invalid keys
 */
export async function proveRotation({
  former,
  fresh,
  contact,
  ciphertext,
}: {
  former: Uint8Array;
  fresh: IdentityKeys;
  contact: PublicKeys;
  ciphertext: Uint8Array;
}): Promise<RotationProofs> {
  const [sodium, kem] = await Promise.all([loadSodium(), loadKem()]);
  const shared = x25519Of(sodium, fresh, contact);
  return proofsOf(sodium, {
    fingerprints: [former, fresh.fingerprint, fingerprintOf(sodium, contact)],
    ciphertext,
    secrets: [shared, kem.decapsulate(ciphertext, fresh.kem.secretKey)],
  });
}

/** @throws HANDSHAKE_TAMPERED unless both are equal */
export async function checkRotationProof(proof: Uint8Array, expected: Uint8Array): Promise<void> {
  const sodium = await loadSodium();
  if (proof.length !== expected.length || !sodium.memcmp(proof, expected)) throw new KeibiError('HANDSHAKE_TAMPERED');
}

interface Tested {
  /** The announcer's former and new fingerprint, then the contact's. */
  readonly fingerprints: readonly [Uint8Array, Uint8Array, Uint8Array];
  readonly ciphertext: Uint8Array;
  /** The X25519 secret, then the ML-KEM secret. Wiped. */
  readonly secrets: readonly [Uint8Array, Uint8Array];
}

function proofsOf(sodium: Sodium, { fingerprints, ciphertext, secrets }: Tested): RotationProofs {
  const label = new TextEncoder().encode('KeibiDrop rotation v1');
  const prk = extract(sodium, sha512(sodium, label, ...fingerprints, ciphertext), ...secrets);
  const proof = (side: string) => expand(sodium, prk, `KeibiDrop rotation ${side}`, ROTATION_PROOF_BYTES);
  const proofs = { announcer: proof('announcer'), contact: proof('contact') };
  wipe(prk, ...secrets);
  return proofs;
}

function x25519Of(sodium: Sodium, self: IdentityKeys, peer: PublicKeys): Uint8Array {
  try {
    return sodium.crypto_scalarmult(self.x25519.secret, peer.x25519);
  } catch (cause) {
    throw new KeibiError('HANDSHAKE_MALFORMED', undefined, { cause });
  }
}

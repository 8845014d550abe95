// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { drawIdentitySeed, IDENTITY_SEED_BYTES, identityFromSeed } from './identity-keys.ts';
import { loadKem } from './kem.ts';

it('derives the same keys from a seed each time, with a fingerprint of both public keys', async () => {
  const seed = Uint8Array.from({ length: IDENTITY_SEED_BYTES }, (_, i) => i);
  const [one, same] = [await identityFromSeed(seed), await identityFromSeed(seed)];
  expect(same).toEqual({ ...one, wipe: expect.anything() });
  const digest = createHash('sha512').update(one.x25519.public).update(one.kem.publicKey).digest();
  expect(Buffer.from(one.fingerprint).equals(digest)).toBe(true);
  expect(one.kem.publicKey.length).toBe(1568);
});

it('draws a different seed each time, whose keys open data sealed to them', async () => {
  const [one, other] = [await drawIdentitySeed(), await drawIdentitySeed()];
  expect(one).not.toEqual(other);
  const keys = await identityFromSeed(one);
  const kem = await loadKem();
  const { cipherText, sharedSecret } = kem.encapsulate(keys.kem.publicKey);
  expect(kem.decapsulate(cipherText, keys.kem.secretKey)).toEqual(sharedSecret);
});

it('wipes its secrets and leaves the seed to its owner', async () => {
  const seed = await drawIdentitySeed();
  const keys = await identityFromSeed(seed);
  keys.wipe();
  expect(keys.x25519.secret.every((byte) => byte === 0)).toBe(true);
  expect(keys.kem.secretKey.every((byte) => byte === 0)).toBe(true);
  expect(seed.some((byte) => byte !== 0)).toBe(true);
});

// SPDX-License-Identifier: MPL-2.0
import { mlKem1024 } from '@keibidrop/native';
import { describe, expect, it } from 'vitest';
import { loadKem, loadNobleKem, type MlKem1024 } from './kem.ts';

const noble = await loadNobleKem();
const native = mlKem1024();
// A build with a libcrypto older than 3.5 has only noble's, which is then tested against itself.
const here: readonly (readonly [string, MlKem1024])[] = [
  ['noble', noble],
  ...(native ? [['native', native] as const] : []),
];
const pairs = here.flatMap(([a, owner]) => here.map(([b, guest]) => [a, b, owner, guest] as const));

describe.each(pairs)('keys of %s, encapsulated to by %s', (_a, _b, owner, guest) => {
  it('give both the same secret, a new one each time', () => {
    const seen = new Set<string>();
    for (let round = 0; round < 5; round++) {
      const { publicKey, secretKey } = owner.keygen();
      const { cipherText, sharedSecret } = guest.encapsulate(publicKey);
      expect(owner.decapsulate(cipherText, secretKey)).toEqual(sharedSecret);
      seen.add(Buffer.from(sharedSecret).toString('hex'));
    }
    expect(seen.size).toBe(5);
  });

  it('give the same wrong secret for an altered ciphertext, whichever side opens it', () => {
    const { publicKey, secretKey } = owner.keygen();
    const { cipherText, sharedSecret } = guest.encapsulate(publicKey);
    cipherText[700] = (cipherText[700] ?? 0) ^ 1;
    const rejected = owner.decapsulate(cipherText, secretKey);
    expect(rejected).not.toEqual(sharedSecret);
    expect(guest.decapsulate(cipherText, secretKey)).toEqual(rejected);
  });
});

describe.each(here)('ML-KEM of %s', (_name, kem) => {
  it('refuses a key with a coefficient out of range (FIPS 203 7.2)', () => {
    const { publicKey } = kem.keygen();
    publicKey.set([0xff, 0xff, 0xff], 3);
    expect(() => kem.encapsulate(publicKey)).toThrow();
  });

  it.each([0, 1567, 1569])('refuses a key and a ciphertext of %d bytes', (bytes) => {
    const { secretKey } = kem.keygen();
    expect(() => kem.encapsulate(new Uint8Array(bytes))).toThrow();
    expect(() => kem.decapsulate(new Uint8Array(bytes), secretKey)).toThrow();
  });
});

it('uses noble only where the addon has no ML-KEM', async () => {
  expect((await loadKem()) === noble).toBe(native === undefined);
});

// SPDX-License-Identifier: MPL-2.0
import { beforeAll, describe, expect, it } from 'vitest';
import { person, publicKeys } from '../../test/contact-meetings.ts';
import type { IdentityKeys } from './identity-keys.ts';
import { checkRotationProof, proveRotation, testRotation } from './rotation.ts';

let former: IdentityKeys;
let fresh: IdentityKeys;
let contact: IdentityKeys;
let eve: IdentityKeys;
beforeAll(async () => {
  [former, fresh, contact, eve] = [await person(1), await person(2), await person(3), await person(4)];
});

const tampered = { code: 'HANDSHAKE_TAMPERED' };

/** The contact tests the keys of `fresh`; the announcer answers with the keys that it has. */
async function exchange(announcer: Partial<Parameters<typeof proveRotation>[0]> = {}) {
  const { ciphertext, proofs } = await testRotation({
    former: former.fingerprint,
    fresh: publicKeys(fresh),
    self: contact,
  });
  const announced = { former: former.fingerprint, fresh, contact: publicKeys(contact), ciphertext };
  return { tested: proofs, proved: await proveRotation({ ...announced, ...announcer }) };
}

describe('the proof of a new identity', () => {
  it('is the same for both sides, and different in each exchange', async () => {
    const { tested, proved } = await exchange();
    expect(proved).toEqual(tested);
    expect(proved.announcer).not.toEqual(proved.contact);
    await checkRotationProof(proved.announcer, tested.announcer);
    expect((await exchange()).proved).not.toEqual(proved);
  });

  it.each([
    ['without the new X25519 secret', () => ({ fresh: { ...fresh, x25519: eve.x25519 } })],
    ['without the new ML-KEM secret', () => ({ fresh: { ...fresh, kem: eve.kem } })],
    ['for another former identity', () => ({ former: eve.fingerprint })],
    ['for another contact', () => ({ contact: publicKeys(eve) })],
    ['for another new identity', () => ({ fresh: { ...fresh, fingerprint: eve.fingerprint } })],
  ])('cannot be made %s', async (_, announcer) => {
    const { tested, proved } = await exchange(announcer());
    await expect(checkRotationProof(proved.announcer, tested.announcer)).rejects.toMatchObject(tampered);
    await expect(checkRotationProof(tested.contact, proved.contact)).rejects.toMatchObject(tampered);
  });

  it('is refused from an earlier exchange, and so is the contact’s own proof', async () => {
    const [earlier, { tested }] = [await exchange(), await exchange()];
    for (const proof of [earlier.proved.announcer, tested.contact, new Uint8Array(), new Uint8Array(32)]) {
      await expect(checkRotationProof(proof, tested.announcer)).rejects.toMatchObject(tampered);
    }
  });

  it.each([
    ['an invalid X25519 key', () => ({ ...publicKeys(fresh), x25519: new Uint8Array(32) })],
    ['an invalid ML-KEM key', () => ({ ...publicKeys(fresh), kem: new Uint8Array(1568).fill(0xff) })],
  ])('is not requested for %s', async (_, keys) => {
    const testing = testRotation({ former: former.fingerprint, fresh: keys(), self: contact });
    await expect(testing).rejects.toMatchObject({ code: 'HANDSHAKE_MALFORMED' });
  });
});

// SPDX-License-Identifier: MPL-2.0
import { createHmac, createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { IDENTITY_SEED_BYTES, type IdentityKeys, identityFromSeed, type PublicKeys } from './identity-keys.ts';
import { mailboxDays, PairKey } from './pair-key.ts';

const seed = (byte: number) => new Uint8Array(IDENTITY_SEED_BYTES).fill(byte);
const publicOf = ({ x25519, kem }: IdentityKeys): PublicKeys => ({ x25519: x25519.public, kem: kem.publicKey });

let ann: IdentityKeys;
let ben: IdentityKeys;
let cay: IdentityKeys;
beforeAll(async () => {
  [ann, ben, cay] = (await Promise.all([1, 2, 3].map((byte) => identityFromSeed(seed(byte))))) as [
    IdentityKeys,
    IdentityKeys,
    IdentityKeys,
  ];
});

describe('the mailbox that one contact keeps for another', () => {
  const kinds = [
    ['known by its keys', (self: IdentityKeys, peer: IdentityKeys) => PairKey.of(self, publicOf(peer))],
    [
      'known by its fingerprint',
      (self: IdentityKeys, peer: IdentityKeys) => PairKey.ofFingerprints(self.fingerprint, peer.fingerprint),
    ],
  ] as const;

  it.each(kinds)('has one name for both contacts, different for each pair: %s', async (_, pairOf) => {
    const [annBen, benAnn, annCay] = [await pairOf(ann, ben), await pairOf(ben, ann), await pairOf(ann, cay)];
    expect(annBen.mailbox('self', 20_000)).toBe(benAnn.mailbox('peer', 20_000));
    expect(annBen.mailbox('peer', 20_000)).toBe(benAnn.mailbox('self', 20_000));
    const names = [
      annBen.mailbox('self', 20_000),
      annBen.mailbox('peer', 20_000),
      annBen.mailbox('self', 20_001),
      annCay.mailbox('self', 20_000),
    ];
    expect(new Set(names).size).toBe(4);
    expect(names.join('')).toMatch(/^[0-9a-f]{256}$/);
  });

  it('has a different name at first contact', async () => {
    const [byKeys, byFingerprint] = await Promise.all(kinds.map(([, pairOf]) => pairOf(ann, ben)));
    expect(byKeys?.mailbox('self', 1)).not.toBe(byFingerprint?.mailbox('self', 1));
  });

  it('matches PROTOCOL 10.1, computed by another library', async () => {
    const hmac = (key: Uint8Array, ...parts: Uint8Array[]) =>
      createHmac('sha512', key).update(Buffer.concat(parts)).digest();
    const fingerprints = [ann.fingerprint, ben.fingerprint].sort(Buffer.compare);
    const label = (text: string) => Buffer.from(text, 'latin1');
    const one = Uint8Array.of(1);
    const mailbox = (prk: Uint8Array) => {
      const pair = hmac(prk, label('KeibiDrop contact pair'), one).subarray(0, 32);
      return hmac(
        pair,
        label('KeibiDrop contact mailbox'),
        ann.fingerprint,
        Buffer.from([0, 0, 0x4e, 0x20]),
        one,
      ).toString('hex', 0, 32);
    };
    expect((await PairKey.of(ann, publicOf(ben))).mailbox('self', 20_000)).toBe(
      mailbox(hmac(Buffer.concat(fingerprints), x25519(ann.x25519.secret, ben.x25519.public))),
    );
    expect((await PairKey.ofFingerprints(ann.fingerprint, ben.fingerprint)).mailbox('self', 20_000)).toBe(
      mailbox(hmac(label('KeibiDrop first contact'), ...fingerprints)),
    );
  });

  it('refuses an X25519 key that yields no secret', async () => {
    const zero = { ...publicOf(ben), x25519: new Uint8Array(32) };
    await expect(PairKey.of(ann, zero)).rejects.toMatchObject({ code: 'HANDSHAKE_MALFORMED' });
  });

  it('has no name after wipe', async () => {
    const pair = await PairKey.of(ann, publicOf(ben));
    const before = pair.mailbox('self', 1);
    pair.wipe();
    expect(pair.mailbox('self', 1)).not.toBe(before);
  });

  function x25519(secret: Uint8Array, key: Uint8Array): Uint8Array {
    const [pkcs8, spki] = ['302e020100300506032b656e04220420', '302a300506032b656e032100'].map((hex) =>
      Buffer.from(hex, 'hex'),
    );
    return diffieHellman({
      privateKey: createPrivateKey({ key: Buffer.concat([pkcs8 as Buffer, secret]), format: 'der', type: 'pkcs8' }),
      publicKey: createPublicKey({ key: Buffer.concat([spki as Buffer, key]), format: 'der', type: 'spki' }),
    });
  }
});

describe('the days whose mailboxes are in use', () => {
  const at = (time: string) => mailboxDays(Date.parse(`1970-01-11T${time}Z`));

  it.each([
    ['00:00:00.000', [10, 9]],
    ['00:59:59.999', [10, 9]],
    ['01:00:00.000', [10]],
    ['22:59:59.999', [10]],
    ['23:00:00.000', [10, 11]],
    ['23:59:59.999', [10, 11]],
  ])('at %s are %j', (time, days) => {
    expect(at(time)).toEqual(days);
  });

  it('share a day for clocks that differ by an hour', () => {
    const day = 86_400_000;
    for (let now = 10 * day; now < 12 * day; now += day / 288) {
      const [here, there] = [mailboxDays(now), mailboxDays(now + 3_600_000)];
      expect(here.some((one) => there.includes(one))).toBe(true);
    }
  });
});

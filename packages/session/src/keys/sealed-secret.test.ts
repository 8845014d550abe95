// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { lockKindOf, openSecret, type SecretKey, sealSecret } from './sealed-secret.ts';

const secret = Uint8Array.from({ length: 104 }, (_, i) => i);
const key: SecretKey = { kind: 'key', key: new Uint8Array(32).fill(7) };
const passphrase: SecretKey = { kind: 'passphrase', passphrase: 'tröpfchen für tröpfchen' };
const keychain: SecretKey = { kind: 'keychain', key: new Uint8Array(32).fill(8) };
const LOCKS = [key, passphrase, keychain];
const refused = (code: string, words: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(words) });

let files: Record<SecretKey['kind'], Uint8Array>;
beforeAll(async () => {
  files = {
    key: await sealSecret(secret, key),
    passphrase: await sealSecret(secret, passphrase),
    keychain: await sealSecret(secret, keychain),
  };
});

/** Changes a file and recomputes its digest, as a deliberate attacker would. */
function altered(file: Uint8Array, change: (copy: Uint8Array) => void): Uint8Array {
  const body = file.slice(0, -32);
  change(body);
  return Uint8Array.of(...body, ...createHash('sha256').update(body).digest());
}

describe.each(LOCKS.map((lock) => [lock.kind, lock] as const))('a secret sealed by a %s', (kind, lock) => {
  it('opens with its key, shows how it is locked, and hides the secret', async () => {
    expect([...(await openSecret(files[kind], lock))]).toEqual([...secret]);
    expect(await lockKindOf(files[kind])).toBe(kind);
    expect(Buffer.from(files[kind]).includes(Buffer.from(secret.subarray(8, 16)))).toBe(false);
  });

  it('is a different file each time', async () => {
    expect(Buffer.from(await sealSecret(secret, lock)).equals(files[kind])).toBe(false);
  });

  it('is not opened by the other kind of key', async () => {
    const other = LOCKS.find((each) => each.kind !== kind) as SecretKey;
    await expect(openSecret(files[kind], other)).rejects.toThrowError(refused('IDENTITY_LOCKED', /locked by (a|the) /));
  });
});

describe('a sealed file that does not open', () => {
  it('names a wrong passphrase and the key of another identity', async () => {
    const wrong = { kind: 'passphrase', passphrase: 'tröpfchen' } as const;
    await expect(openSecret(files.passphrase, wrong)).rejects.toThrowError(
      refused('IDENTITY_LOCKED', /passphrase is wrong/),
    );
    const another = { kind: 'key', key: new Uint8Array(32).fill(8) } as const;
    await expect(openSecret(files.key, another)).rejects.toThrowError(refused('IDENTITY_LOCKED', /another identity/));
  });

  it('is refused with any flipped byte', async () => {
    for (let at = 0; at < files.key.length; at++) {
      const flipped = files.key.slice();
      flipped[at] = (flipped[at] as number) ^ 1;
      const words = at < 4 ? /not the file/ : at === 4 ? /older/ : /damaged/;
      await expect(openSecret(flipped, key), `byte ${at}`).rejects.toThrowError(refused('IDENTITY_CORRUPT', words));
    }
  });

  it('is refused with any wrong length', async () => {
    for (let length = 0; length < files.key.length; length++) {
      const words = length < 4 ? /not the file/ : /cut short|damaged/;
      await expect(openSecret(files.key.subarray(0, length), key), `${length}`).rejects.toThrowError(
        refused('IDENTITY_CORRUPT', words),
      );
    }
    const long = Uint8Array.of(...files.key, ...new Uint8Array(5000));
    await expect(openSecret(long, key)).rejects.toThrowError(refused('IDENTITY_CORRUPT', /too long/));
  });

  it('is refused if a later version wrote it', async () => {
    const file = altered(files.passphrase, (copy) => copy.set([3], 4));
    const newer = refused('FILE_NEWER', /written by a newer KeibiDrop/);
    await expect(openSecret(file, passphrase)).rejects.toThrowError(newer);
    await expect(lockKindOf(file)).rejects.toThrowError(newer);
  });

  it.each<[string, number, number, RegExp]>([
    ['an older version', 4, 0, /format 0 is older/],
    ['an unknown lock', 5, 3, /no KeibiDrop has written/],
    ['no pass of Argon2id', 6, 0, /no KeibiDrop has written/],
    ['hours of Argon2id', 6, 255, /no KeibiDrop has written/],
    ['all memory for Argon2id', 7, 255, /no KeibiDrop has written/],
  ])('%s', async (_, at, value, words) => {
    const file = altered(files.passphrase, (copy) => copy.set([value], at));
    await expect(openSecret(file, passphrase)).rejects.toThrowError(refused('IDENTITY_CORRUPT', words));
  });

  it.each([
    ['the lock', 5],
    ['the passes', 6],
    ['the salt', 9],
    ['the nonce', 25],
    ['the secret', 49],
  ])('an attacker who also repairs the digest cannot change %s', async (_, at) => {
    const file = altered(files.key, (copy) => copy.set([at === 5 ? 1 : (copy[at] as number) ^ 2], at));
    for (const lock of LOCKS)
      await expect(openSecret(file, lock)).rejects.toThrowError(refused('IDENTITY_LOCKED', /./));
  });
});

it('costs Argon2id of 64 MiB in 3 passes', () => {
  expect([...files.passphrase.subarray(6, 9)]).toEqual([3, 0, 64]);
});

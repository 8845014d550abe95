// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContactStore } from '../src/contact-store.ts';
import { type Identity, IdentityStore } from '../src/identity/identity-store.ts';
import type { Keychain } from '../src/identity/keychain.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-identity-'));
});
afterEach(() => rm(directory, { recursive: true }));

const PASSPHRASE = 'three small owls';
const place = (name: string) => join(directory, 'config', name);
const refused = (code: string, words: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(words) });

function store(passphrase?: string, config = 'config', keychain: Keychain | 'none' = 'none'): IdentityStore {
  return new IdentityStore({
    directory: join(directory, config),
    keychain,
    askPassphrase: async () => passphrase ?? expect.unreachable('nobody may be asked'),
  });
}

async function fingerprint(identity: Promise<Identity>): Promise<string> {
  const { keys } = await identity;
  keys.wipe();
  return Buffer.from(keys.fingerprint).toString('hex');
}

describe('an identity', () => {
  it('is created at first need and stays the same', async () => {
    expect(await store().lockKind()).toBeUndefined();
    const first = await fingerprint(store().open());
    expect(await fingerprint(store().open())).toBe(first);
    expect(await store().lockKind()).toBe('key');
  });

  it('is readable by this user only, with no other file beside it', async () => {
    await store().open();
    for (const name of ['identity', 'identity.key']) expect((await stat(place(name))).mode & 0o777).toBe(0o600);
    expect((await stat(place('.'))).mode & 0o777).toBe(0o700);
    expect((await readdir(place('.'))).sort()).toEqual(['identity', 'identity.key', 'identity.lock']);
  });

  it('is one identity when several processes need the first at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => fingerprint(store().open())));
    expect(new Set(all).size).toBe(1);
  });

  it('opens only with its passphrase, once it has one, and its key file is gone', async () => {
    const before = await fingerprint(store().open());
    await store().lock(PASSPHRASE);
    expect((await readdir(place('.'))).sort()).toEqual(['identity', 'identity.lock']);
    await expect(store('three big owls').open()).rejects.toThrowError(
      refused('IDENTITY_LOCKED', /passphrase is wrong/),
    );
    expect(await fingerprint(store(PASSPHRASE).open())).toBe(before);
    await store(PASSPHRASE).lock(undefined);
    expect(await fingerprint(store().open())).toBe(before);
  });

  it('moves to another machine as a copy, even on a stick without permissions', async () => {
    const ours = await fingerprint(store().open());
    const copy = join(directory, 'me.kdid');
    await store().export(copy, PASSPHRASE);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    await expect(store().export(copy, PASSPHRASE)).rejects.toThrowError(refused('USAGE', /exists/));
    await chmod(copy, 0o777);
    const there = store(undefined, 'there');
    await expect(there.import(copy, 'wrong words', { replace: false })).rejects.toThrowError(
      refused('IDENTITY_LOCKED', /passphrase is wrong/),
    );
    expect(await there.lockKind()).toBeUndefined();
    expect(await fingerprint(there.import(copy, PASSPHRASE, { replace: false }))).toBe(ours);
    expect(await fingerprint(there.open())).toBe(ours);
  });

  it('is not replaced by another without consent', async () => {
    await store().export(join(directory, 'me.kdid'), PASSPHRASE);
    const other = store(undefined, 'other');
    const before = await fingerprint(other.open());
    const copy = join(directory, 'me.kdid');
    await expect(other.import(copy, PASSPHRASE, { replace: false })).rejects.toThrowError(
      refused('USAGE', /--replace/),
    );
    expect(await fingerprint(other.open())).toBe(before);
    await other.import(copy, PASSPHRASE, { replace: true });
    expect(await fingerprint(other.open())).toBe(await fingerprint(store().open()));
  });

  it('is a new one after rotation', async () => {
    const before = await fingerprint(store().open());
    const after = await fingerprint(store().rotate(undefined));
    expect(after).not.toBe(before);
    expect(await fingerprint(store().open())).toBe(after);
  });
});

describe('a former identity', () => {
  const contacts = () => new ContactStore({ directory: join(directory, 'config') });
  const files = async () => (await readdir(place('.'))).filter((name) => name.startsWith('identity.former-'));
  const former = async (of = store()) => {
    const { former } = await of.openWithFormer();
    return former.map(({ keys }) => Buffer.from(keys.fingerprint).toString('hex'));
  };
  beforeEach(async () => {
    await contacts().add({ name: 'Ann', fingerprint: new Uint8Array(64).fill(1) });
  });

  it('is kept sealed beside the next one, while a contact knows no other', async () => {
    const first = await fingerprint(store().open());
    expect((await store().rotate(undefined)).announcedTo).toBe(1);
    const [file = ''] = await files();
    expect((await stat(place(file))).mode & 0o777).toBe(0o600);
    expect(await former()).toEqual([first]);
    const { knowsFormer = new Uint8Array() } = await contacts().get('Ann');
    expect(Buffer.from(knowsFormer).toString('hex')).toBe(first);
    await contacts().noteHeard(new Uint8Array(64).fill(1), knowsFormer);
    expect(await former()).toEqual([]);
    expect(await files()).toEqual([]);
  });

  it('follows a change of the lock, and a second change of identity', async () => {
    const first = await fingerprint(store().open());
    await store().rotate(undefined);
    await store().lock(PASSPHRASE);
    await expect(store('three big owls').rotate('four small owls')).rejects.toThrowError(
      refused('IDENTITY_LOCKED', /passphrase is wrong.*--silent/),
    );
    expect(await former(store(PASSPHRASE))).toEqual([first]);
    await store(PASSPHRASE).rotate('four small owls');
    // Ann still knows the first one only.
    expect(await former(store('four small owls'))).toEqual([first]);
    expect(await files()).toHaveLength(1);
  });

  it('is removed after 90 days', async () => {
    await store().open();
    await store().rotate(undefined);
    const [file = ''] = await files();
    await rename(place(file), place(`identity.former-${Date.now() - 91 * 86_400_000}`));
    expect(await former()).toEqual([]);
    expect(await files()).toEqual([]);
  });

  it('is not kept, and neither are earlier ones, if nothing is announced', async () => {
    await store().open();
    await store().rotate(undefined);
    expect((await store().rotate(undefined, { announce: false })).announcedTo).toBe(0);
    expect(await files()).toEqual([]);
  });

  it('is kept for an imported one, too, but not for itself', async () => {
    const copy = join(directory, 'me.kdid');
    const ours = await fingerprint(store().open());
    await store().export(copy, PASSPHRASE);
    expect((await store().import(copy, PASSPHRASE, { replace: true })).announcedTo).toBe(0);
    expect(await files()).toEqual([]);
    const next = await fingerprint(store().rotate(undefined));
    await contacts().noteHeard(new Uint8Array(64).fill(1), Buffer.from(ours, 'hex'));
    expect((await store().import(copy, PASSPHRASE, { replace: true })).announcedTo).toBe(1);
    expect(await former()).toEqual([next]);
  });
});

describe('each flaw is a separate error and creates no new identity', () => {
  const breakages: [string, (path: typeof place) => Promise<void>, string, RegExp][] = [
    [
      'an identity cut short',
      (at) => truncate(at('identity'), 60),
      'IDENTITY_CORRUPT',
      /config\/identity is cut short: it has 60 of \d+ bytes\. .*id import --replace FILE/,
    ],
    [
      'an identity without its last byte',
      (at) => truncate(at('identity'), 200),
      'IDENTITY_CORRUPT',
      /cut short: it has 200 of 201/,
    ],
    [
      'an identity of a later version',
      async (at) => {
        const sealed = await readFile(at('identity'));
        sealed[4] = 9;
        await writeFile(at('identity'), sealed);
      },
      'FILE_NEWER',
      /config\/identity was written by a newer KeibiDrop/,
    ],
    ['an empty identity', (at) => truncate(at('identity'), 0), 'IDENTITY_CORRUPT', /cut short: it has 0 of/],
    [
      'another file',
      (at) => writeFile(at('identity'), 'hello'.repeat(100)),
      'IDENTITY_CORRUPT',
      /not the file of a KeibiDrop identity/,
    ],
    ['no key file', (at) => rm(at('identity.key')), 'IDENTITY_LOCKED', /identity\.key is missing/],
    ['half a key file', (at) => truncate(at('identity.key'), 16), 'IDENTITY_LOCKED', /identity\.key is damaged/],
    [
      'another key file',
      (at) => writeFile(at('identity.key'), new Uint8Array(32)),
      'IDENTITY_LOCKED',
      /another identity/,
    ],
    ['an identity that others may read', (at) => chmod(at('identity'), 0o640), 'IDENTITY_LOCKED', /chmod 600/],
    ['a key that others may read', (at) => chmod(at('identity.key'), 0o604), 'IDENTITY_LOCKED', /chmod 600/],
  ];

  it.each(breakages)('%s', async (_, breakIt, code, words) => {
    await store().open();
    await breakIt(place);
    const left = await readFile(place('identity'));
    await expect(store().open()).rejects.toThrowError(refused(code, words));
    expect(await readFile(place('identity'))).toEqual(left);
  });

  it('a flipped bit', async () => {
    await store().open();
    const bytes = await readFile(place('identity'));
    bytes[70] = (bytes[70] as number) ^ 4;
    await writeFile(place('identity'), bytes);
    await expect(store().open()).rejects.toThrowError(
      refused('IDENTITY_CORRUPT', /config\/identity cannot be read\. .*damaged.*id rotate/),
    );
  });

  describe('a lost identity', () => {
    const asking = (agreed?: boolean) =>
      new IdentityStore({
        directory: join(directory, 'config'),
        keychain: 'none',
        askPassphrase: () => expect.unreachable('nobody may be asked'),
        ...(agreed !== undefined && { confirmNew: async () => agreed }),
      });
    const contacts = () => new ContactStore({ directory: join(directory, 'config') });

    it('is not replaced without a question while its key exists', async () => {
      const before = await fingerprint(store().open());
      await rm(place('identity'));
      for (const agreed of [undefined, false]) {
        await expect(asking(agreed).open()).rejects.toThrowError(
          refused('IDENTITY_MISSING', /no identity at .*config\/identity, but its key file is there/),
        );
      }
      expect(await fingerprint(asking(true).open())).not.toBe(before);
    });

    it('is not replaced while contacts know it, except contacts saved by fingerprint alone', async () => {
      const fingerprintOfAnn = createHash('sha512')
        .update(new Uint8Array(32 + 1568))
        .digest();
      await contacts().add({ name: 'Ann', fingerprint: fingerprintOfAnn });
      await store().open();
      await contacts().add({
        name: 'Ann',
        fingerprint: fingerprintOfAnn,
        keys: { x25519: new Uint8Array(32), kem: new Uint8Array(1568) },
      });
      for (const name of ['identity', 'identity.key']) await rm(place(name));
      await expect(store().open()).rejects.toThrowError(refused('IDENTITY_MISSING', /contacts that know it/));
    });
  });

  it('can be abandoned for a new one, or an imported one', async () => {
    await store().open();
    await store().export(join(directory, 'me.kdid'), PASSPHRASE);
    for (const name of ['identity', 'identity.key']) await truncate(place(name), 16);
    await store().rotate(undefined);
    await truncate(place('identity.key'), 16);
    await store().import(join(directory, 'me.kdid'), PASSPHRASE, { replace: true });
    expect((await store().open()).lock).toBe('key');
  });
});

describe('an identity that the keychain locks', () => {
  const kept = new Map<string, Uint8Array>();
  const desktop = { unlocked: true };
  beforeEach(() => {
    kept.clear();
    desktop.unlocked = true;
  });
  const asked = async <T>(answer: () => T): Promise<T> => {
    if (!desktop.unlocked) throw new Error('it stays locked');
    return answer();
  };
  /** A keychain in memory; e2e/identity/keychain.test.ts uses a real one. */
  const keychain: Keychain = {
    read: (name) => asked(() => kept.get(name)?.slice()),
    write: (name, secret) => asked(() => void kept.set(name, secret.slice())),
    remove: (name) => asked(() => void kept.delete(name)),
  };
  const locked = (passphrase?: string) => store(passphrase, 'config', keychain);

  it('is one identity when several processes need the first at once, and has no key file', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => fingerprint(locked().open())));
    expect(new Set(all).size).toBe(1);
    expect((await locked().open()).lock).toBe('keychain');
    expect(await readdir(place('.'))).not.toContain('identity.key');
    expect(kept.size).toBe(1);
  });

  it('has a key file instead if the keychain is unavailable', async () => {
    desktop.unlocked = false;
    const first = await locked().open();
    expect(first.lock).toBe('key');
    desktop.unlocked = true;
    expect(await fingerprint(locked().open())).toBe(Buffer.from(first.keys.fingerprint).toString('hex'));
    expect(kept.size).toBe(0);
  });

  it.each([
    ['stays locked', () => Object.assign(desktop, { unlocked: false }), /cannot be reached, or stays locked/],
    ['has lost the key', () => kept.clear(), /has no key of it/],
    ['has another key', () => kept.forEach((key) => void key.fill(1)), /key of another identity/],
  ])('is an error, and creates no new identity, when the keychain %s', async (_, breakIt, words) => {
    await locked().open();
    breakIt();
    const left = await readFile(place('identity'));
    await expect(locked().open()).rejects.toThrowError(refused('IDENTITY_LOCKED', words));
    expect(await readFile(place('identity'))).toEqual(left);
    expect(await readdir(place('.'))).not.toContain('identity.key');
  });

  it('moves to a passphrase, a key file and, by an import, back, and leaves no key behind', async () => {
    const before = await fingerprint(locked().open());
    await locked().export(join(directory, 'me.kdid'), PASSPHRASE);
    await locked().lock(PASSPHRASE);
    expect(kept.size).toBe(0);
    expect((await locked(PASSPHRASE).lock(undefined)).lock).toBe('key');
    expect(await fingerprint(store().open())).toBe(before);
    const back = await locked().import(join(directory, 'me.kdid'), PASSPHRASE, { replace: true });
    expect(back.lock).toBe('keychain');
    expect(await readdir(place('.'))).not.toContain('identity.key');
    expect(await fingerprint(locked().open())).toBe(before);
  });

  it('stays locked so after rotation, by the key that opens the previous one', async () => {
    const before = await fingerprint(locked().open());
    const [key] = [...kept.values()];
    expect((await locked().rotate(undefined)).lock).toBe('keychain');
    expect([...kept.values()]).toEqual([key]);
    expect(await fingerprint(locked().open())).not.toBe(before);
  });
});

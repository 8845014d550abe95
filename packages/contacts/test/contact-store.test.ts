// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContactStore } from '../src/contact-store.ts';

let directory: string;
let store: ContactStore;
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'keibidrop-contacts-')), 'config');
  store = new ContactStore({ directory });
});
afterEach(() => rm(join(directory, '..'), { recursive: true }));

/** A contact with these public keys, which only need the right lengths. */
function person(number: number) {
  const keys = { x25519: new Uint8Array(32).fill(number), kem: new Uint8Array(1568).fill(number) };
  const fingerprint = new Uint8Array(createHash('sha512').update(keys.x25519).update(keys.kem).digest());
  return { keys, fingerprint };
}

const [ann, ben] = [person(1), person(2)];
const file = () => join(directory, 'contacts.json');
const names = async () => (await store.list()).map(({ name }) => name);
const refused = (code: string, words: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(words) });

describe('a name that looks like another', () => {
  it.each([
    ['Anna', 'Anne'],
    ['Ian', 'Jan'],
  ])('%s and %s are distinct', async (one, other) => {
    await store.add({ name: one, ...ann });
    expect((await store.add({ name: other, fingerprint: ben.fingerprint })).name).toBe(other);
  });

  it.each([
    ['AHHA', 'АННА'],
    ['Alice', 'AIice'],
    ['Alice', 'A1ice'],
    ['Bob', 'Ｂob'],
    ['Tim', 'Tirn'],
    ['Oscar', '0scar'],
    ['Theo', 'Τhео'],
  ])('%s is kept, %s is refused', async (one, other) => {
    await store.add({ name: one, ...ann });
    const same = { name: other, fingerprint: ben.fingerprint };
    await expect(store.add(same)).rejects.toThrowError(refused('USAGE', /looks like|another contact|alphabets/));
    await store.add({ name: 'Ben', fingerprint: ben.fingerprint });
    await expect(store.rename('Ben', other)).rejects.toThrowError(refused('USAGE', /looks like|another|alphabets/));
    expect(await names()).toHaveLength(2);
  });

  it('mixes no alphabets within a word, but may between words and in an existing file', async () => {
    for (const name of ['Аnna', 'Αnna', 'Боb']) {
      await expect(store.add({ name, ...ann })).rejects.toThrowError(refused('USAGE', /several alphabets/));
    }
    for (const [i, name] of ['Анна (work)', 'Ann 田中', 'Žofie 🎸', 'Ελένη'].entries()) {
      await store.add({ name, fingerprint: person(i + 3).fingerprint });
    }
    const text = await readFile(file(), 'utf8');
    await writeFile(file(), text.replace('Ελένη', 'Eλένη'));
    expect(await names()).toContain('Eλένη');
  });
});

describe('contacts', () => {
  it('are none at first, and reading them writes no file', async () => {
    expect(await store.list()).toEqual([]);
    await expect(store.get('Ann')).rejects.toMatchObject({ code: 'CONTACT_UNKNOWN' });
    await expect(readdir(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('are saved by name, for other processes too', async () => {
    const added = await store.add({ name: 'Ann', ...ann });
    await store.add({ name: 'Ben', fingerprint: ben.fingerprint });
    const other = new ContactStore({ directory });
    expect(await other.list()).toEqual([
      {
        ...ann,
        name: 'Ann',
        verified: false,
        blocked: false,
        rule: { kind: 'ask' },
        paired: false,
        added: added.added,
      },
      expect.objectContaining({ name: 'Ben', fingerprint: ben.fingerprint }),
    ]);
    expect(await other.get(' ann ')).toEqual(added);
    expect(await other.byFingerprint(ben.fingerprint)).not.toHaveProperty('keys');
  });

  it('are readable by this user only, and leave nothing but a lock beside them', async () => {
    await store.add({ name: 'Ann', ...ann });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await readdir(directory)).sort()).toEqual(['contacts.json', 'contacts.json.lock']);
  });

  it('can be added again, which adds their keys', async () => {
    const first = await store.add({ name: 'Ann', fingerprint: ann.fingerprint });
    const again = await store.add({ name: 'ANN', ...ann });
    expect(again).toEqual({ ...first, keys: ann.keys });
    expect(await store.list()).toEqual([again]);
  });

  it('have a unique name and fingerprint', async () => {
    await store.add({ name: 'Ann', ...ann });
    await expect(store.add({ name: 'ann', ...ben })).rejects.toThrowError(refused('USAGE', /“Ann” is another contact/));
    await expect(store.add({ name: 'Anna', ...ann })).rejects.toThrowError(refused('USAGE', /Rename/));
    await store.add({ name: 'Ben', ...ben });
    await expect(store.rename('Ben', 'ANN')).rejects.toThrowError(refused('USAGE', /“Ann” is another contact/));
    expect(await names()).toEqual(['Ann', 'Ben']);
  });

  it('are renamed, even by case only, and removed', async () => {
    await store.add({ name: 'Ann', ...ann });
    await store.rename('ann', 'ANN');
    expect(await names()).toEqual(['ANN']);
    expect((await store.remove('Ann')).fingerprint).toEqual(ann.fingerprint);
    await expect(store.remove('Ann')).rejects.toMatchObject({ code: 'CONTACT_UNKNOWN' });
    expect(await names()).toEqual([]);
  });

  it('keep the user’s choices', async () => {
    await store.add({ name: 'Ann', ...ann });
    await store.change('Ann', { verified: true });
    await store.change('Ann', { blocked: true, rule: { kind: 'accept', folder: '/srv/in' } });
    expect(await store.get('Ann')).toMatchObject({
      verified: true,
      blocked: true,
      rule: { kind: 'accept', folder: '/srv/in' },
    });
    await store.change('Ann', { rule: { kind: 'never' } });
    expect((await store.get('Ann')).rule).toEqual({ kind: 'never' });
  });

  it('keep the result of a meeting, and stay removed', async () => {
    await store.add({ name: 'Ann', fingerprint: ann.fingerprint });
    const at = new Date('2026-01-02T03:04:05.678Z');
    await store.noteMet(ann.fingerprint, { keys: ann.keys, paired: false, self: ann.fingerprint, at });
    await store.noteMet(ann.fingerprint, { keys: ann.keys, paired: true, self: ann.fingerprint, at });
    await store.noteMet(ann.fingerprint, { keys: ann.keys, paired: false, self: ann.fingerprint, at });
    expect(await store.get('Ann')).toMatchObject({ keys: ann.keys, paired: true, lastSeen: at });
    await store.remove('Ann');
    expect(
      await store.noteMet(ann.fingerprint, { keys: ann.keys, paired: true, self: ann.fingerprint, at }),
    ).toBeUndefined();
    expect(await names()).toEqual([]);
  });

  it('know which identity of ours each has met, until it has met a later one', async () => {
    const [first, second, third] = [10, 11, 12].map((number) => person(number).fingerprint) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    await store.add({ name: 'Ann', ...ann });
    await store.add({ name: 'Ben', ...ben });
    await store.change('Ben', { blocked: true });
    expect(await store.noteRotation(undefined)).toBe(0);
    expect((await store.get('Ann')).knowsFormer).toBeUndefined();
    expect(await store.noteRotation(first)).toBe(1);
    expect(await store.noteRotation(second)).toBe(1);
    expect(await store.get('Ann')).toMatchObject({ knowsFormer: first });
    const met = (self: Uint8Array) =>
      store.noteMet(ann.fingerprint, { keys: ann.keys, paired: true, self, at: new Date() });
    // A daemon that has missed the rotation meets it as before.
    expect(await met(first)).toMatchObject({ knowsFormer: first });
    expect((await met(third))?.knowsFormer).toBeUndefined();
    await store.noteHeard(ben.fingerprint, second);
    expect(await store.get('Ben')).toMatchObject({ knowsFormer: first });
  });

  it('keep the name, the rule and other choices under new keys, but not the mark', async () => {
    const next = person(3);
    const renewed = { from: ann.fingerprint, keys: next.keys, own: [], at: new Date('2026-01-02T03:04:05.678Z') };
    await store.add({ name: 'Ann', ...ann });
    await store.change('Ann', { verified: true, rule: { kind: 'accept', folder: '/srv/in' } });
    expect(await store.mayRenew(renewed)).toBeUndefined();
    expect(await store.renew(renewed)).toBeUndefined();
    const [contact] = await new ContactStore({ directory }).list();
    expect(contact).toMatchObject({ name: 'Ann', ...next, verified: false, rule: { folder: '/srv/in' } });
    expect(contact?.renewals).toEqual([{ from: ann.fingerprint, at: renewed.at }]);
    // The former fingerprint belongs to no contact now.
    expect(await store.renew({ ...renewed, keys: person(4).keys })).toBe('final');
  });

  it.each([
    [{ knowsFormer: 'short' }, /impossible “knowsFormer”/],
    [{ renewals: [{ from: 1, at: '2026-01-01' }] }, /impossible “renewals”/],
    [{ renewals: Array(5).fill(null) }, /impossible “renewals”/],
  ])('are refused as a file with %j', async (fields, words) => {
    await store.add({ name: 'Ann', ...ann });
    const { contacts, ...rest } = JSON.parse(await readFile(file(), 'utf8'));
    await writeFile(file(), JSON.stringify({ ...rest, contacts: [{ ...contacts[0], ...fields }] }));
    await expect(store.list()).rejects.toThrowError(refused('CONTACTS_CORRUPT', words));
  });

  it.each([
    ['', /1 to 64 characters/],
    ['   ', /1 to 64 characters/],
    ['x'.repeat(65), /1 to 64 characters/],
    ['An\u001bn', /visible/],
    ['An\u202en', /visible/],
    ['-f', /dash/],
    ['7-guitar-pencil', /looks like a code/],
  ])('are not called %j', async (name, words) => {
    await expect(store.add({ name, ...ann })).rejects.toThrowError(refused('USAGE', words));
  });

  it.each(['x'.repeat(64), 'Ann the 2nd', 'Žofie 🎸', '7'])('may be called %j', async (name) => {
    await store.add({ name: ` ${name} `, ...ann });
    expect(await names()).toEqual([name]);
  });
});

describe('contacts that several processes change at once', () => {
  it('lose nothing', async () => {
    const people = Array.from({ length: 16 }, (_, i) => ({ name: `p${10 + i}`, ...person(10 + i) }));
    await Promise.all(people.map((one) => new ContactStore({ directory }).add(one)));
    expect(await names()).toEqual(people.map(({ name }) => name));
    expect((await readdir(directory)).sort()).toEqual(['contacts.json', 'contacts.json.lock']);
  });

  it('are reported to a watcher until it stops', async () => {
    const controller = new AbortController();
    const seen: string[][] = [];
    const watching = (async () => {
      for await (const contacts of store.watch({ signal: controller.signal })) {
        seen.push(contacts.map(({ name }) => name));
        if (seen.length === 1) void new ContactStore({ directory }).add({ name: 'Ann', ...ann });
        if (seen.at(-1)?.length === 1) controller.abort(new Error('enough'));
      }
    })();
    await expect(watching).rejects.toThrow('enough');
    expect([seen[0], seen.at(-1)]).toEqual([[], ['Ann']]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

it('leaves a file of a later version as it is', async () => {
  await store.add({ name: 'Ann', ...ann });
  await writeFile(file(), '{"version": 2}');
  const newer = expect.objectContaining({ code: 'FILE_NEWER', message: expect.stringContaining(file()) });
  await expect(store.list()).rejects.toThrowError(newer);
  await expect(store.add({ name: 'Ben', ...ben })).rejects.toThrowError(newer);
  expect(await readFile(file(), 'utf8')).toBe('{"version": 2}');
});

describe('a file of contacts that was altered', () => {
  type Entry = Record<string, unknown>;
  const edited = (edit: (entry: Entry, all: Entry[]) => void) => async () => {
    const content = JSON.parse(await readFile(file(), 'utf8'));
    edit(content.contacts[0], content.contacts);
    await writeFile(file(), JSON.stringify(content));
  };
  const breakages: [string, () => Promise<void>, RegExp][] = [
    ['cut short', () => truncate(file(), 900), /cut short/],
    ['empty', () => truncate(file(), 0), /cut short/],
    ['of another kind', () => writeFile(file(), '[]'), /not a file of contacts/],
    ['of an older version', () => writeFile(file(), '{"version": 0, "contacts": []}'), /not a file of contacts/],
    ['open to others', () => chmod(file(), 0o644), /chmod 600/],
    [
      'with a name that acts on a terminal',
      edited((entry) => Object.assign(entry, { name: '\u001b[2J' })),
      /Contact 1 has an impossible name/,
    ],
    [
      'with another fingerprint',
      edited((entry) => Object.assign(entry, { fingerprint: `${'A'.repeat(85)}g` })),
      /not those of its fingerprint/,
    ],
    ['with half a fingerprint', edited((entry) => Object.assign(entry, { fingerprint: 'AAAA' })), /no fingerprint/],
    [
      'with half a key',
      edited((entry) => Object.assign(entry, { keys: { x25519: 'AAAA', kem: 'AAAA' } })),
      /keys that are none/,
    ],
    [
      'with a rule that is not known',
      edited((entry) => Object.assign(entry, { rule: { kind: 'maybe' } })),
      /unknown rule/,
    ],
    [
      'with a folder that is not absolute',
      edited((entry) => Object.assign(entry, { rule: { kind: 'accept', folder: 'in' } })),
      /unknown rule/,
    ],
    ['without its flags', edited((entry) => Object.assign(entry, { blocked: undefined })), /no “blocked”/],
    ['without a day', edited((entry) => Object.assign(entry, { added: 'yesterday' })), /no day/],
    ['with a contact twice', edited((entry, all) => void all.push(entry)), /Contact 2 has the name or the fingerprint/],
    ['with an invalid contact', edited((_, all) => void all.push(7 as unknown as Entry)), /Contact 2 is invalid/],
  ];

  it.each(breakages)('is an error that says so, and stays: %s', async (_, breakIt, words) => {
    await store.add({ name: 'Ann', ...ann });
    await breakIt();
    const left = await readFile(file());
    await expect(store.list()).rejects.toThrowError(refused('CONTACTS_CORRUPT', words));
    await expect(store.add({ name: 'Ben', ...ben })).rejects.toThrowError(refused('CONTACTS_CORRUPT', words));
    expect(await readFile(file())).toEqual(left);
    expect((await readdir(directory)).sort()).toEqual(['contacts.json', 'contacts.json.lock']);
  });

  it('is an error if it cannot be written', async () => {
    await mkdir(join(directory, '..', 'config'), { recursive: true });
    await mkdir(file());
    await expect(store.add({ name: 'Ann', ...ann })).rejects.toMatchObject({ code: 'CONTACTS_CORRUPT' });
  });
});

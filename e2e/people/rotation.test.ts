// SPDX-License-Identifier: MPL-2.0
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from './own-daemon.ts';

// Alice's identity changes. Bob types no command for it, and no daemon has to be restarted.

interface Shown {
  name: string;
  fingerprint: string;
  verified: boolean;
  online: boolean;
  renewed?: number | undefined;
}

const CONTENT = 'from one contact to another\n';
const env = { KD_LISTEN: '127.0.0.1:0' };
let sandbox: Sandbox;
let alice: OwnDaemon;
let bob: OwnDaemon;
beforeEach(async () => {
  sandbox = await Sandbox.open();
  await writeFile(sandbox.path('file'), CONTENT);
  await writeFile(sandbox.path('words'), 'three small owls\n');
  [alice, bob] = (await Promise.all(['alice', 'bob'].map((name) => OwnDaemon.start(sandbox, name, { env })))) as [
    OwnDaemon,
    OwnDaemon,
  ];
  for (const [here, name, other] of [
    [alice, 'Bob', bob],
    [bob, 'Alice', alice],
  ] as const) {
    await here.know(name, other);
    await here.command('contacts', 'rule', name, 'accept', sandbox.path(`from-${name}`));
    await here.command('contacts', 'verify', name, '--yes');
  }
  await Promise.all([shows(alice, 'Bob', isOnline), shows(bob, 'Alice', isOnline)]);
});
afterEach(() => sandbox.close());

/** Waits until the daemon shows a contact for which `found` holds, and returns it. */
async function shows(daemon: OwnDaemon, name: string, found: (contact: Shown) => boolean): Promise<Shown> {
  const { signal } = daemon;
  const client = await daemon.own();
  const contactOf = async () => {
    const { contacts } = await client.call('contacts', {}, { signal });
    return contacts.find((contact) => contact.name === name && found(contact));
  };
  let contact: Shown | undefined;
  for await (const { happened } of client.stream('watch', { progress: false }, { signal })) {
    if (!['contacts', 'presence', 'present'].includes(happened?.$case ?? '')) continue;
    contact = await contactOf();
    if (contact !== undefined) return contact;
  }
  throw new Error('The daemon has ended.');
}

const isOnline = ({ online }: Shown) => online;
const hasIdentity = (fingerprint: string) => (contact: Shown) => contact.online && contact.fingerprint === fingerprint;

/** Runs `send --to` in a separate process. */
async function send(from: OwnDaemon, to: string): Promise<void> {
  const sender = await sandbox.start(['send', 'file', '--to', to, '--json', '--config', from.name], { env });
  expect(await sender.ended, sender.stdout + sender.stderr).toBe(0);
}

async function sendBothWays(): Promise<void> {
  await send(alice, 'Bob');
  expect(await readFile(sandbox.path('from-Alice', 'file'), 'utf8')).toBe(CONTENT);
  await send(bob, 'Alice');
  expect(await readFile(sandbox.path('from-Bob', 'file'), 'utf8')).toBe(CONTENT);
}

const formerOf = async (name: string) =>
  (await readdir(sandbox.path(name))).filter((file) => file.startsWith('identity.former'));
const withoutFormer = (name: string) => expect.poll(() => formerOf(name), { timeout: 120_000 }).toEqual([]);

describe('a rotated identity', () => {
  it('is adopted by both running daemons, and must be verified again', async () => {
    const before = await shows(bob, 'Alice', ({ verified }) => verified);
    expect(before.renewed).toBeUndefined();
    const renewed = bob.until(({ event }) => event === 'renewed', await bob.client());
    const { exit, event } = await alice.command('id', 'rotate', '--yes');
    expect(exit).toBe(0);
    const fingerprint = event.fingerprint as string;
    expect(await (await alice.own()).call('identity', {}, { signal: alice.signal })).toMatchObject({ fingerprint });
    expect(await renewed).toMatchObject({ contact: 'Alice', words: event.words });
    const after = await shows(bob, 'Alice', hasIdentity(fingerprint));
    expect(after).toMatchObject({ verified: false, renewed: expect.any(Number) });
    expect(await bob.said('contacts')).toMatch(/Alice +new identity .*\n.*\nAlice has a new identity\. Compare it/);
    await shows(alice, 'Bob', isOnline);
    await withoutFormer('alice');
    await sendBothWays();
    await bob.command('contacts', 'verify', 'Alice', '--yes');
    const compared = await shows(bob, 'Alice', ({ verified }) => verified);
    expect(compared.renewed).toBeUndefined();
  });

  it('reaches a contact that was away, even from the next daemon and with a new passphrase', async () => {
    bob.running.kill();
    await bob.running.ended;
    const rotated = await alice.command('id', 'rotate', '--yes', '--new-passphrase-file', 'words');
    expect(rotated.exit).toBe(0);
    expect(await formerOf('alice')).toHaveLength(1);
    await alice.replace();
    expect((await alice.command('id', 'unlock', '--passphrase-file', 'words')).exit).toBe(0);
    await bob.startAgain();
    await shows(bob, 'Alice', hasIdentity(rotated.event.fingerprint as string));
    await withoutFormer('alice');
    await shows(alice, 'Bob', isOnline);
  });

  it('is not announced with --silent', async () => {
    const { event } = await alice.command('id', 'rotate', '--yes', '--silent');
    await shows(bob, 'Alice', ({ online }) => !online);
    expect(await formerOf('alice')).toEqual([]);
    await bob.command('contacts', 'remove', 'Alice');
    await bob.command('contacts', 'add', 'Alice', event.fingerprint as string);
    await shows(bob, 'Alice', hasIdentity(event.fingerprint as string));
  });
});

describe('an imported identity', () => {
  it('is adopted by both running daemons', async () => {
    const made = await sandbox.start(['id', '--json', '--config', 'other']);
    const { fingerprint } = await made.until('identity');
    const copy = ['id', 'export', 'copy', '--new-passphrase-file', 'words', '--config', 'other'];
    expect(await (await sandbox.start(copy)).ended).toBe(0);
    const imported = await alice.command('id', 'import', 'copy', '--replace', '--passphrase-file', 'words');
    expect(imported).toMatchObject({ exit: 0, event: { event: 'identity', fingerprint } });
    await Promise.all([shows(bob, 'Alice', hasIdentity(fingerprint as string)), shows(alice, 'Bob', isOnline)]);
    await sendBothWays();
  });
});

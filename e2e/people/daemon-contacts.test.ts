// SPDX-License-Identifier: MPL-2.0
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LISTEN, Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from './own-daemon.ts';

let sandbox: Sandbox;
let alice: OwnDaemon;
let bob: OwnDaemon;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await writeFile(sandbox.path('file'), 'content');
  alice = await OwnDaemon.start(sandbox, 'alice');
  bob = await OwnDaemon.start(sandbox, 'bob');
  await introduce(alice, 'Bob', bob);
  await introduce(bob, 'Alice', alice);
});
afterAll(() => sandbox.close());

/** Adds `other` as a contact. */
async function introduce(here: OwnDaemon, name: string, other: OwnDaemon): Promise<void> {
  const { signal } = here;
  const { fingerprint } = await (await other.own()).call('identity', {}, { signal });
  await (await here.own()).call('addContact', { name, fingerprint }, { signal });
}

/** A new client also gets the state of contacts that are already online. */
const online = (of: OwnDaemon, name: string) =>
  of.until(({ event, contact, online, contacts }) =>
    event === 'contacts'
      ? (contacts as { name: string; online: boolean }[]).some((one) => one.name === name && one.online)
      : event === 'presence' && contact === name && online === true,
  );
const offline = (of: OwnDaemon, name: string) =>
  of.until(({ event, contact, online }) => event === 'presence' && contact === name && online === false);

async function sendTo(name: string): Promise<number> {
  const request = { paths: [sandbox.path('file')], to: [name], listen: '127.0.0.1:0' };
  const { transfer } = await (await alice.own()).call('send', request, { signal: alice.signal });
  return transfer?.id ?? 0;
}

it('contacts are online for each other, and send without a code: the receiver is asked', async () => {
  await Promise.all([online(alice, 'Bob'), online(bob, 'Alice')]);
  const id = await sendTo('Bob');
  const { question, ...asked } = await bob.until(({ event }) => event === 'question');
  expect(asked).toMatchObject({ kind: 'invitation', contact: 'Alice', verified: false, to: 'files', label: 'file' });
  expect(asked).toMatchObject({ files: 1, bytes: 7, place: expect.any(String), freeBytes: expect.any(Number) });
  const received = bob.until(
    ({ event, kind, state }) => event === 'transfer' && kind === 'receive' && state === 'done',
  );
  const answer = { question: question as number, answer: 'yes', out: sandbox.path('chosen') };
  await (await bob.own()).call('answer', answer, { signal: bob.signal });
  const { place, contact } = await received;
  expect(place).toBe(sandbox.path('chosen'));
  expect(contact).toBe('Alice');
  expect(await readFile(`${place}/file`, 'utf8')).toBe('content');
  expect(await alice.state(id, 'done')).toMatchObject({ contact: 'Bob', what: 'file' });
  expect((await alice.command('history')).event.entries).toMatchObject([{ with: 'Bob', contact: true, result: 'OK' }]);
});

it('an offer that grew after the invitation was accepted is asked about again', async () => {
  const grows = sandbox.path('grows');
  await writeFile(grows, 'short');
  const request = { paths: [grows], to: ['Bob'], listen: '127.0.0.1:0' };
  const { transfer } = await (await alice.own()).call('send', request, { signal: alice.signal });
  const answered = async (kind: string, answer: string) => {
    const asked = await bob.until((event) => event.event === 'question' && event.kind === kind);
    if (kind === 'invitation') await writeFile(grows, 'longer than it was');
    await (await bob.own()).call('answer', { question: asked.question as number, answer }, { signal: bob.signal });
    return asked;
  };
  expect(await answered('invitation', 'yes')).toMatchObject({ files: 1, bytes: 5 });
  expect(await answered('offer', 'no')).toMatchObject({ files: 1, bytes: 18 });
  expect(await alice.state(transfer?.id ?? 0, 'failed')).toMatchObject({ error: { code: 'OFFER_DECLINED' } });
});

it('a rule receives into its folder; a refusal and a block are reported by name', async () => {
  const { signal } = bob;
  const own = await bob.own();
  const folder = sandbox.path('inbox');
  await own.call('changeContact', { name: 'Alice', rule: 'accept', folder }, { signal });
  await alice.state(await sendTo('Bob'), 'done');
  expect(await readFile(`${folder}/file`, 'utf8')).toBe('content');
  await own.call('changeContact', { name: 'Alice', rule: 'never' }, { signal });
  expect(await alice.state(await sendTo('Bob'), 'failed')).toMatchObject({ error: { code: 'OFFER_DECLINED' } });
  await own.call('changeContact', { name: 'Alice', blocked: true }, { signal });
  const { error } = await alice.state(await sendTo('Bob'), 'failed');
  expect(error).toMatchObject({ code: 'CONTACT_BLOCKED', message: expect.stringContaining('Bob') });
  await own.call('changeContact', { name: 'Alice', blocked: false, rule: 'accept', folder }, { signal });
});

it('a killed daemon goes offline; its successor is online again and gets the waiting send', async () => {
  await online(alice, 'Bob');
  const gone = offline(alice, 'Bob');
  bob.running.kill();
  await gone;
  const id = await sendTo('Bob');
  await bob.replace();
  await online(alice, 'Bob');
  await alice.state(id, 'done');
});

it('status reports an identity locked by a passphrase, and unlocking it starts what waits', async () => {
  const words = sandbox.path('words');
  await writeFile(words, 'three small owls\n');
  expect((await bob.command('status')).event).toMatchObject({ identity: 'open' });
  for (const one of [alice, bob]) {
    expect((await one.command('id', 'passphrase', '--new-passphrase-file', words)).exit).toBe(0);
    await one.replace();
    expect((await one.command('status')).event).toMatchObject({ identity: 'locked' });
  }
  expect(await bob.said('status')).toMatch(/Identity +The identity is locked by a passphrase.*keibidrop id unlock/);
  const sending = ['send', 'file', '--to', 'Bob', '--background', ...LISTEN];
  expect((await alice.command(...sending)).event).toMatchObject({ code: 'IDENTITY_LOCKED' });
  const { event } = await alice.command(...sending, '--passphrase-file', words);
  expect(event).toMatchObject({ event: 'transfer', contact: 'Bob' });
  expect((await bob.command('id', 'unlock')).event).toMatchObject({ code: 'IDENTITY_LOCKED' });
  const unlocked = await bob.command('id', 'unlock', '--passphrase-file', words);
  expect(unlocked).toMatchObject({ exit: 0, event: { event: 'identity', lock: 'passphrase' } });
  expect((await bob.command('status')).event).toMatchObject({ identity: 'open' });
  await alice.state(event.id as number, 'done');
});

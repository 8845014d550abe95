// SPDX-License-Identifier: MPL-2.0
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
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

/** Keeps another as a contact. */
async function introduce(here: OwnDaemon, name: string, other: OwnDaemon): Promise<void> {
  const { signal } = here;
  const { fingerprint } = await (await other.own()).call('identity', {}, { signal });
  await (await here.own()).call('addContact', { name, fingerprint }, { signal });
}

/** A new client hears it of a contact who is there already, too. */
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

it('contacts are there for each other, and send without a code: one is asked', async () => {
  await Promise.all([online(alice, 'Bob'), online(bob, 'Alice')]);
  const id = await sendTo('Bob');
  const { question, ...asked } = await bob.until(({ event }) => event === 'question');
  expect(asked).toMatchObject({ kind: 'invitation', contact: 'Alice', verified: false, to: 'files', label: 'file' });
  const received = bob.until(
    ({ event, kind, state }) => event === 'transfer' && kind === 'receive' && state === 'done',
  );
  await (await bob.own()).call('answer', { question: question as number, answer: 'yes' }, { signal: bob.signal });
  const { place, contact } = await received;
  expect(contact).toBe('Alice');
  expect(await readFile(`${place}/file`, 'utf8')).toBe('content');
  expect(await alice.state(id, 'done')).toMatchObject({ contact: 'Bob', what: 'file' });
  expect((await alice.command('history')).event.entries).toMatchObject([{ with: 'Bob', contact: true, result: 'OK' }]);
});

it('a rule receives into its folder, a refusal and a block are told by name', async () => {
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

it('one that is killed is gone, and is back with its next daemon, which takes what waited for it', async () => {
  await online(alice, 'Bob');
  const gone = offline(alice, 'Bob');
  bob.running.kill();
  await gone;
  const id = await sendTo('Bob');
  await bob.replace();
  await online(alice, 'Bob');
  await alice.state(id, 'done');
});

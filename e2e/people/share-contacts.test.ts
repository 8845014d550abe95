// SPDX-License-Identifier: MPL-2.0
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LISTEN, Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from './own-daemon.ts';

const PATIENT = { env: { KD_PATIENCE: '5m' } };

let sandbox: Sandbox;
let anna: OwnDaemon;
let bob: OwnDaemon;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await mkdir(sandbox.path('photos'));
  await writeFile(sandbox.path('photos', 'cat.jpg'), 'fur');
  anna = await OwnDaemon.start(sandbox, 'anna', PATIENT);
  bob = await OwnDaemon.start(sandbox, 'bob', PATIENT);
  await anna.know('Bob', bob);
  await bob.know('Anna', anna);
});
afterAll(() => sandbox.close());

it('a contact without an invitation for us gets a different error, which says what to do', async () => {
  expect(await bob.command('connect', 'Anna')).toMatchObject({
    exit: 1,
    event: { code: 'SHARE_UNKNOWN', message: expect.stringContaining('Anna has not invited you') },
  });
});

it("add --to invites a contact, who accepts by connect and the sharer's name, without a code", async () => {
  const asked = bob.until(({ event, kind }) => event === 'question' && kind === 'invitation');
  const answered = anna.until(({ event }) => event === 'shareAnswer');
  expect((await anna.command('add', 'photos', '--to', 'bob', ...LISTEN)).event).toMatchObject({ to: ['bob'] });
  expect(await asked).toMatchObject({ contact: 'Anna', to: 'share', label: 'photos' });
  const connected = await bob.command('connect', 'anna');
  expect(connected).toMatchObject({ exit: 0, event: { name: 'photos', contact: 'Anna', state: 'connected' } });
  expect(await answered).toMatchObject({ share: 'photos', contact: 'bob', verdict: 'taken' });
  expect((await bob.command('pull', 'photos', 'out')).event).toMatchObject({ state: 'done', files: 1 });
  expect(await readFile(sandbox.path('out', 'photos', 'cat.jpg'), 'utf8')).toBe('fur');
});

it('share --to does the same in a separate process', async () => {
  await mkdir(sandbox.path('music'));
  const asked = bob.until(({ event, label }) => event === 'question' && label === 'music');
  const sharing = await sandbox.start(['share', 'music', '--to', 'Bob', '--config', 'anna', '--json', ...LISTEN]);
  const { question } = await asked;
  await (await bob.own()).call('answer', { question: question as number, answer: 'yes' }, { signal: bob.signal });
  await sharing.until('inviting', ({ contact, state }) => contact === 'Bob' && state === 'taken');
  await sharing.until('connected');
  expect((await bob.command('list', 'music')).exit).toBe(0);
  sharing.kill('SIGINT');
  expect(await sharing.ended).toBe(0);
});

it('the contact reconnects by its code, used once, when the sharing daemon was killed', async () => {
  await anna.replace();
  await bob.until(({ event, state, contact }) => event === 'share' && contact === 'Anna' && state === 'connected');
  expect((await bob.command('list', 'photos')).event.entries).toMatchObject([{ name: 'cat.jpg' }]);
});

it('the contact reconnects by the same code after a normal restart of the sharing daemon', async () => {
  expect((await anna.command('stop')).exit).toBe(0);
  await bob.until(({ event, state }) => event === 'share' && state === 'away');
  await anna.startAgain();
  await bob.until(({ event, state, contact }) => event === 'share' && contact === 'Anna' && state === 'connected');
  expect((await bob.command('list', 'photos')).event.entries).toMatchObject([{ name: 'cat.jpg' }]);
});

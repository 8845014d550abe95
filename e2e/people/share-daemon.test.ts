// SPDX-License-Identifier: MPL-2.0
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LISTEN, Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from './own-daemon.ts';

const PATIENT = { env: { KD_PATIENCE: '5m' } };

let sandbox: Sandbox;
let anna: OwnDaemon;
let bob: OwnDaemon;
let code: string;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await mkdir(sandbox.path('photos', 'holiday'), { recursive: true });
  await writeFile(sandbox.path('photos', 'holiday', 'beach.jpg'), 'sand');
  await writeFile(sandbox.path('photos', 'cat.jpg'), 'fur');
  anna = await OwnDaemon.start(sandbox, 'anna', PATIENT);
  bob = await OwnDaemon.start(sandbox, 'bob', PATIENT);
});
afterAll(() => sandbox.close());

const shares = async (of: OwnDaemon) => (await of.command('list')).event.shares;
const namesIn = async (path: string) => {
  const { event } = await bob.command('list', path);
  return (event.entries as { name: string }[] | undefined)?.map(({ name }) => name);
};

it('add shares a folder through the daemon, connect joins it, list shows it on both sides', async () => {
  const added = await anna.command('add', 'photos', ...LISTEN);
  expect(added).toMatchObject({ exit: 0, event: { event: 'share', name: 'photos', kind: 'own', guests: 0 } });
  code = added.event.code as string;
  expect(await bob.command('connect', code)).toMatchObject({
    exit: 0,
    event: { event: 'share', name: 'photos', kind: 'guest', state: 'connected', path: 'local' },
  });
  expect(await shares(anna)).toMatchObject([{ name: 'photos', guests: 1, folder: sandbox.path('photos') }]);
  expect(await shares(bob)).toMatchObject([{ name: 'photos', state: 'connected' }]);
  // A second share of that name gets another name.
  const other = await sandbox.start(['connect', '-', '--json', '--config', 'bob'], { stdin: `${code}\n` });
  expect(await other.until('share')).toMatchObject({ name: 'photos-2' });
  const named = await sandbox.start(['connect', '--config', 'bob'], { env: { KD_CODE: 'no code' } });
  expect(await named.ended, named.stderr).toBe(2);
  expect((await bob.command('connect', '--leave', 'photos-2')).exit).toBe(0);
});

it("list shows a folder's entries, with or without the share's name, and reports missing ones", async () => {
  expect(await namesIn('photos')).toEqual(['cat.jpg', 'holiday']);
  expect(await namesIn('photos/holiday')).toEqual(['beach.jpg']);
  expect(await namesIn('holiday')).toEqual(['beach.jpg']);
  expect((await bob.command('list', 'photos/gone')).event).toMatchObject({ code: 'SHARE_NOT_FOUND' });
  expect((await bob.command('list', 'photos/../..')).event).toMatchObject({ code: 'SHARE_PATH_REFUSED' });
  expect((await anna.command('list', 'photos')).event).toMatchObject({ code: 'SHARE_UNKNOWN' });
});

it('pull gets a file, a folder or everything, as a transfer in the history', async () => {
  const one = await bob.command('pull', 'photos/holiday/beach.jpg', 'out');
  expect(one).toMatchObject({ exit: 0, event: { event: 'pulled', state: 'done', files: 1, bytes: 4 } });
  expect(await readFile(sandbox.path('out', 'beach.jpg'), 'utf8')).toBe('sand');
  expect((await bob.command('pull', 'photos', 'all', '--verify')).event).toMatchObject({ state: 'done', files: 2 });
  expect(await readFile(sandbox.path('all', 'photos', 'cat.jpg'), 'utf8')).toBe('fur');
  const { event } = await bob.command('history');
  const received = (what: string) => expect.objectContaining({ kind: 'receive', what, result: 'OK' });
  expect(event.entries).toHaveLength(2);
  expect(event.entries).toEqual(expect.arrayContaining([received('photos'), received('beach.jpg')]));
  const given = (await anna.command('history')).event.entries;
  expect(given).toMatchObject([
    { kind: 'send', what: 'beach.jpg', place: sandbox.path('photos'), path: 'local', files: 1, bytes: 4, result: 'OK' },
    { kind: 'send', what: 'photos', files: 2, result: 'OK' },
  ]);
  expect((await bob.command('pull', 'photos/gone')).event).toMatchObject({ code: 'SHARE_NOT_FOUND' });
});

it('a pull is retried by a code of its own', async () => {
  const { id } = (await bob.command('pull', 'photos/cat.jpg', 'again')).event;
  await rm(sandbox.path('again', 'cat.jpg'));
  expect((await bob.command('transfers', 'retry', `${id}`)).exit).toBe(0);
  const { exit, event } = await bob.command('transfers', 'wait', `${id}`, '--timeout', '20s');
  expect({ exit, event }).toMatchObject({ exit: 0, event: { id, state: 'done', files: 1, bytes: 3 } });
  expect(await readFile(sandbox.path('again', 'cat.jpg'), 'utf8')).toBe('fur');
});

it('list --watch reports changes, for people and for programs', async () => {
  const watching = await sandbox.start(['list', 'photos/holiday', '--watch', '--json', '--config', 'bob']);
  await watching.until('watching');
  await writeFile(sandbox.path('photos', 'elsewhere'), '');
  await writeFile(sandbox.path('photos', 'holiday', 'new'), '');
  const { changes } = await watching.until('changes');
  expect(changes).toEqual([{ kind: 'created', path: 'holiday/new' }]);
  await rm(sandbox.path('photos', 'elsewhere'));
  watching.kill('SIGINT');
  expect(await watching.ended).toBe(130);
});

it('share and guest come back with the next daemons, after kill -9 of either', async () => {
  await anna.replace();
  await bob.until(({ event, state }) => event === 'share' && state === 'connected');
  expect(await namesIn('photos/holiday')).toEqual(['beach.jpg', 'new']);
  await bob.replace();
  await bob.until(({ event, state }) => event === 'share' && state === 'connected');
  expect((await bob.command('pull', 'photos/cat.jpg', 'again')).event).toMatchObject({ files: 1 });
  expect(await shares(anna)).toMatchObject([{ code }]);
});

it('share and guest come back after keibidrop stop of either, and the guest waits meanwhile', async () => {
  expect((await anna.command('stop')).exit).toBe(0);
  await bob.until(({ event, state }) => event === 'share' && state === 'away');
  await anna.startAgain();
  await bob.until(({ event, state }) => event === 'share' && state === 'connected');
  expect(await namesIn('photos/holiday')).toEqual(['beach.jpg', 'new']);
  expect((await bob.command('stop')).exit).toBe(0);
  await bob.startAgain();
  await bob.until(({ event, state }) => event === 'share' && state === 'connected');
  expect(await shares(anna)).toMatchObject([{ code }]);
});

it('add --remove ends a share and notifies its guests', async () => {
  const ended = bob.until(({ event }) => event === 'shareEnded');
  expect((await anna.command('add', '--remove', 'photos')).exit).toBe(0);
  expect(await ended).toMatchObject({ name: 'photos', error: { code: 'SESSION_CLOSED' } });
  expect([await shares(anna), await shares(bob)]).toEqual([[], []]);
});

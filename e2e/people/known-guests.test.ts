// SPDX-License-Identifier: MPL-2.0
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { whyNotMountable } from '../../packages/mount/src/index.ts';
import { MailboxTap } from '../../packages/share/test/mailbox-tap.ts';
import type { Running } from '../harness/running.ts';
import { CODE, LISTEN, Sandbox } from '../harness/sandbox.ts';
import { shellIn } from '../mount/shell.ts';
import { OwnDaemon } from './own-daemon.ts';

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

let sandbox: Sandbox;
let tap: MailboxTap;
let host: Running;
let bob: OwnDaemon;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  tap = await MailboxTap.open();
  await mkdir(sandbox.path('photos'));
  await writeFile(sandbox.path('photos', 'cat.jpg'), 'fur');
  await share();
  bob = await OwnDaemon.start(sandbox, 'bob', { env: { KD_PATIENCE: '5m' } });
});
afterAll(async () => {
  await bob.command('stop');
  await sandbox.close();
  await tap.close();
});

async function share(): Promise<void> {
  host = await sandbox.start(['share', 'photos', '--json', '--code', CODE, ...LISTEN, '--config', 'anna']);
  tap.port = (await host.until('waiting')).port as number;
}

async function shareAgain({ forgetful = false } = {}): Promise<void> {
  host.kill();
  await host.ended;
  if (forgetful) await rm(sandbox.path('anna', 'state', 'known-guests'), { recursive: true });
  await share();
}

const way = () => ['--connect', `127.0.0.1:${tap.place.port}`];
const connect = () => bob.command('connect', CODE, ...way());
const back = () => bob.until(({ event, state }) => event === 'share' && state === 'connected');

it('a guest uses the code of a share once, across new connects and restarts of either side', async () => {
  expect(await connect()).toMatchObject({ exit: 0, event: { event: 'share', name: 'photos' } });
  expect((await bob.command('connect', '--leave', 'photos')).exit).toBe(0);
  expect(await connect()).toMatchObject({ exit: 0, event: { event: 'share', name: 'photos' } });
  await shareAgain();
  await host.until('connected');
  await bob.replace();
  await back();
  expect((await bob.command('list', 'photos')).event).toMatchObject({ entries: [{ name: 'cat.jpg' }] });
  expect(tap.count('HELLO')).toBe(1);
  // The guest stores only the number of the code.
  const text = await readFile(sandbox.path('bob', 'state', 'shares.json'), 'utf8');
  expect([text.includes('guitar'), text.includes('"nameplate":"7"')]).toEqual([false, true]);
});

it('a share that forgot its guests is joined again only when a person connects', async () => {
  const ended = bob.until(({ event }) => event === 'shareEnded');
  await shareAgain({ forgetful: true });
  expect(await ended).toMatchObject({
    error: { code: 'SHARE_FORGOTTEN', message: expect.stringContaining('Connect again by the code') },
  });
  expect(tap.count('HELLO')).toBe(1);
  expect(await connect()).toMatchObject({ exit: 0, event: { event: 'share', name: 'photos', codeAgain: true } });
  expect(tap.count('HELLO')).toBe(2);
});

it('a guest that reconnects by itself to a share that forgot it uses no code', async () => {
  bob.running.kill();
  await bob.running.ended;
  await shareAgain({ forgetful: true });
  await bob.startAgain();
  await vi.waitUntil(() => bob.running.stderr.includes('SHARE_FORGOTTEN'), { timeout: 240_000, interval: 20 });
  expect((await bob.command('list')).event.shares).toEqual([]);
  expect(tap.count('HELLO')).toBe(2);
});

it.skipIf(reason !== undefined)(
  'a mount of such a share says that the code is needed again, and keeps unsent changes',
  async () => {
    expect(await bob.command('mount', CODE, 'far', ...way())).toMatchObject({ exit: 0, event: { event: 'mount' } });
    expect(tap.count('HELLO')).toBe(3);
    expect(await shellIn(sandbox, 'cat far/cat.jpg')).toBe('fur');
    const away = bob.until(({ event, state }) => event === 'mount' && state === 'away');
    host.kill();
    await away;
    expect(await shellIn(sandbox, 'printf written > far/cat.jpg; cat far/cat.jpg')).toBe('written');
    const ended = bob.until(({ event }) => event === 'mountEnded');
    await shareAgain({ forgetful: true });
    const { error, unsent, keptIn } = (await ended) as unknown as { error: object; unsent: number; keptIn: string };
    expect({ error, unsent }).toMatchObject({
      error: { code: 'SHARE_FORGOTTEN', message: expect.stringContaining(`kept in ${keptIn}`) },
      unsent: 1,
    });
    expect(dirname(keptIn)).toBe(sandbox.home);
    expect(await readFile(join(keptIn, 'cat.jpg'), 'utf8')).toBe('written');
    expect(await readFile(sandbox.path('photos', 'cat.jpg'), 'utf8')).toBe('fur');
    expect(tap.count('HELLO')).toBe(3);
  },
);

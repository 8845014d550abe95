// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exitsOf, Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from './own-daemon.ts';

let sandbox: Sandbox;
let daemon: OwnDaemon;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await writeFile(sandbox.path('secret.txt'), 'content');
  daemon = await OwnDaemon.start(sandbox, 'me');
});
afterAll(() => sandbox.close());

/**
 * Every file of the configuration, state and runtime directories with its time and content; directories by name only.
 */
async function traces(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const root of ['me', 'run-0', `run-${process.getuid?.()}`, '.config', '.local', '.cache']) {
    const names = await readdir(sandbox.path(root), { recursive: true }).catch(() => []);
    for (const name of names) {
      const path = sandbox.path(join(root, name));
      const { mtimeMs, mode } = await stat(path);
      const digest = () => readFile(path).then((bytes) => createHash('sha256').update(bytes).digest('hex'));
      const file = (mode & 0o170000) === 0o100000;
      found.set(path, file ? `${mode} ${mtimeMs} ${await digest()}` : `${mode}`);
    }
  }
  return found;
}

async function oneShot(...options: string[]) {
  const args = ['--config', 'me', ...options];
  const { sender } = await sandbox.send(['secret.txt', ...args]);
  const receiver = await sandbox.receive([...args, '--out', `in${options.join('')}`]);
  expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
}

async function inBackground(incognito: boolean) {
  const { id, code } = await daemon.send({ paths: [sandbox.path('secret.txt')], incognito });
  const received = await daemon.receive({ code, out: sandbox.path(`daemon-${incognito}`), yes: true, incognito });
  await Promise.all([daemon.state(id, 'done'), daemon.state(received, 'done')]);
}

it('a send and a receive leave a trace, and leave none with --incognito', async () => {
  await oneShot();
  const before = await traces();
  expect(before.has(sandbox.path('me/state/history.jsonl'))).toBe(true);
  await oneShot('--incognito');
  expect(await traces()).toEqual(before);
  await oneShot();
  expect(await traces()).not.toEqual(before);
});

it('sends and receives of the daemon do the same', async () => {
  await inBackground(false);
  // The event of an end comes before the write to the disk.
  await expect.poll(() => readFile(sandbox.path('me/state/transfers.json'), 'utf8')).toContain('"entries":[]');
  await (await daemon.own()).call('history', {}, { signal: daemon.signal });
  const before = await traces();
  expect([...before.keys()].some((path) => path.endsWith('transfers.json'))).toBe(true);
  await inBackground(true);
  expect(await traces()).toEqual(before);
  // The number of the next transfer reveals nothing, either.
  const { id } = await daemon.send({ paths: [sandbox.path('secret.txt')] });
  expect(id).toBe(3);
  const { event } = await daemon.command('history');
  expect(event.entries).toHaveLength(6);
  expect(await sandbox.announced()).toHaveLength(1);
});

// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { CODE, exitsOf, LISTEN, lastOf, run, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { digestOf, readContents, writeRandom } from '../harness/tree.ts';

// The kept packages of an earlier build (decision 034), beside the build of this checkout.

const KEPT = fileURLToPath(new URL('kept/2026-11-23/', import.meta.url));
const MIB = 2 ** 20;
const IS_KEPT_PLATFORM = process.platform === 'linux' && process.arch === 'x64';

let sandbox: Sandbox;
const builds = (): Record<'old' | 'new', StartOptions> => ({
  old: {
    command: [process.execPath, sandbox.path('kept/node_modules/keibidrop/dist/keibidrop.cjs')],
    env: { KD_NATIVE_BINDING: '' },
  },
  new: {},
});
type Build = 'old' | 'new';

beforeEach(async () => {
  sandbox = await Sandbox.open();
  for (const [file, name] of [
    ['keibidrop', 'keibidrop'],
    ['keibidrop-linux-x64-gnu', '@keibidrop/linux-x64-gnu'],
  ]) {
    const folder = sandbox.path('kept', 'node_modules', `${name}`);
    await mkdir(folder, { recursive: true });
    run('tar', '-xzf', `${KEPT}${file}.tgz`, '-C', folder, '--strip-components=1');
  }
});
afterEach(() => sandbox.close());

/** Runs `keibidrop ARGS --json` of a build to its end; the last event. */
async function command(build: Build, ...args: string[]): Promise<Record<string, unknown>> {
  const running = await sandbox.start([...args, '--json'], builds()[build]);
  expect(await running.ended, `${build} ${args.join(' ')}: ${running.stdout}${running.stderr}`).toBe(0);
  return lastOf(running) ?? {};
}

async function daemon(build: Build, config: string): Promise<Running> {
  const { env, ...options } = builds()[build];
  const patient = { ...options, env: { ...env, KD_PATIENCE: '5m' } };
  const running = await sandbox.start(['daemon', '--json', '--config', config], patient);
  await running.until('listening');
  return running;
}

const PAIRS: [Build, Build][] = [
  ['old', 'new'],
  ['new', 'old'],
];

describe.skipIf(!IS_KEPT_PLATFORM)('the build of 2026-11-23 and this one (kept for Linux x64)', () => {
  it.each(PAIRS)('%s sends a folder to %s', async (from, to) => {
    await mkdir(sandbox.path('folder', 'deep', 'er 🐙'), { recursive: true });
    await writeFile(sandbox.path('folder', 'empty'), '');
    await writeFile(sandbox.path('folder', 'deep', 'er 🐙', 'ünï code'), 'text');
    await symlink('empty', sandbox.path('folder', 'link'));
    await writeRandom(sandbox.path('folder', 'large'), 3 * MIB);
    const { sender } = await sandbox.send(['folder'], builds()[from]);
    const receiver = await sandbox.receive(['--out', 'out'], builds()[to]);
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
    expect(await readContents(sandbox.path('out', 'folder'))).toEqual(await readContents(sandbox.path('folder')));
  });

  it.each(PAIRS)('%s begins to receive a file, and %s continues', async (from, to) => {
    await writeRandom(sandbox.path('file'), 24 * MIB);
    const { sender } = await sandbox.send(['file', '--limit', '8M'], builds()[from]);
    const receiver = await sandbox.receive(['--out', 'out'], builds()[from]);
    await receiver.until('progress', ({ bytes }) => (bytes as number) >= 10 * MIB);
    receiver.kill();
    await receiver.ended;
    const again = await sandbox.receive(['--out', 'out'], builds()[to]);
    expect(await exitsOf({ sender, receiver: again })).toEqual({ sender: 0, receiver: 0 });
    expect(lastOf(again)?.resumedBytes).toBeGreaterThan(0);
    expect(await digestOf(sandbox.path('out/file'))).toBe(await digestOf(sandbox.path('file')));
  });

  it('keeps identity, contacts, history, share and guest of the old daemons', async () => {
    await mkdir(sandbox.path('photos'));
    await writeFile(sandbox.path('photos', 'cat.jpg'), 'fur');
    const [anna, bob] = [await daemon('old', 'anna'), await daemon('old', 'bob')];
    const added = await command('old', 'add', 'photos', ...LISTEN, '--config', 'anna');
    await command('old', 'connect', `${added.code}`, '--config', 'bob');
    await command('old', 'pull', 'photos/cat.jpg', 'before', '--config', 'bob');
    const { fingerprint } = await command('old', 'id', '--config', 'anna');
    expect(fingerprint).toMatch(/^.{86}$/);
    await command('old', 'contacts', 'add', 'Anna', `${fingerprint}`, '--config', 'bob');
    for (const name of ['anna', 'bob']) await command('old', 'stop', '--config', name);
    await Promise.all([anna.ended, bob.ended]);

    await daemon('new', 'anna');
    await daemon('new', 'bob');
    expect((await command('new', 'id', '--config', 'anna')).fingerprint).toBe(fingerprint);
    expect(await command('new', 'contacts', '--config', 'bob')).toMatchObject({ contacts: [{ name: 'Anna' }] });
    expect(await command('new', 'history', '--config', 'bob')).toMatchObject({ entries: [{ what: 'cat.jpg' }] });
    expect(await command('new', 'list', '--config', 'anna')).toMatchObject({ shares: [{ code: added.code }] });
    await command('new', 'pull', 'photos/cat.jpg', 'after', '--config', 'bob');
    expect(await readFile(sandbox.path('after', 'cat.jpg'), 'utf8')).toBe('fur');
  });

  it.each(PAIRS)('a guest of %s and a sharer of %s work on one folder', async (guest, sharer) => {
    await mkdir(sandbox.path('photos'));
    await writeFile(sandbox.path('photos', 'cat.jpg'), 'fur');
    const share = await sandbox.start(['share', 'photos', '--code', CODE, ...LISTEN, '--json'], builds()[sharer]);
    await share.until('waiting');
    await daemon(guest, 'guest');
    await command(guest, 'connect', CODE, '--config', 'guest');
    expect(await command(guest, 'list', 'photos', '--config', 'guest')).toMatchObject({
      entries: [{ name: 'cat.jpg' }],
    });
    await command(guest, 'pull', 'photos', 'all', '--config', 'guest');
    expect(await readFile(sandbox.path('all', 'photos', 'cat.jpg'), 'utf8')).toBe('fur');
  });

  it.each(PAIRS)('a command of %s uses a daemon of %s', async (client, server) => {
    await writeFile(sandbox.path('file'), 'text');
    const running = await daemon(server, 'me');
    expect(await command(client, 'status', '--config', 'me')).toMatchObject({ pid: running.pid });
    const sent = await command(client, 'send', 'file', '--background', ...LISTEN, '--config', 'me');
    const receiver = await sandbox.start(['receive', `${sent.code}`, '--yes', '--json', '--out', 'out']);
    expect(await receiver.ended, receiver.stderr).toBe(0);
    expect(existsSync(sandbox.path('out/file'))).toBe(true);
    await command(client, 'stop', '--config', 'me');
    expect(await running.ended).toBe(0);
  });
});

// SPDX-License-Identifier: MPL-2.0
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IS_ROOT, NOBODY, Sandbox } from '../harness/sandbox.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.open();
});
afterEach(() => sandbox.close());

const CONFIG = ['--config', 'me'];

/** Runs `keibidrop id …` to its end. Returns its exit code and its first JSON event. */
async function id(...args: string[]) {
  const running = await sandbox.start(['id', ...args, ...CONFIG, '--json']);
  const code = await running.ended;
  return { code, event: running.events()[0] as Record<string, string> | undefined };
}

describe('keibidrop id', () => {
  it('shows the same fingerprint each time, for people and for programs', async () => {
    const { event } = await id();
    expect(event).toMatchObject({ event: 'identity', fingerprint: expect.stringMatching(/^[\w-]{86}$/), lock: 'key' });
    expect((await id('show')).event).toEqual(event);
    const shown = await sandbox.start(['id', ...CONFIG]);
    await shown.ended;
    expect(shown.stdout).toContain(`Fingerprint  ${event?.fingerprint}\n`);
    expect(shown.stdout).toContain(`To read out  ${event?.words}\n`);
    expect(Math.max(...shown.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it('makes one identity when two processes need the first one at once', async () => {
    const both = [await sandbox.start(['id', ...CONFIG, '--json']), await sandbox.start(['id', ...CONFIG, '--json'])];
    await Promise.all(both.map(({ ended }) => ended));
    const [one, other] = both.map((running) => running.events()[0]);
    expect(one).toMatchObject({ event: 'identity' });
    expect(other).toEqual(one);
  });

  it('draws a QR code that fits a terminal of 80 by 24', async () => {
    const shown = await sandbox.start(['id', 'qr', ...CONFIG]);
    expect(await shown.ended).toBe(0);
    const lines = shown.stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(23);
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
    expect(lines[0]?.length).toBeLessThanOrEqual(80);
  });

  it('is locked by a passphrase that is typed twice and never shown', async () => {
    const before = await id();
    const terminal = await sandbox.startOnTerminal(['id', 'passphrase', ...CONFIG]);
    await terminal.shows(/New passphrase: /);
    terminal.type('three smallx\u007f owls\r');
    await terminal.shows(/Repeat it: /);
    terminal.type('three small owls\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.stdout).toContain('a passphrase');
    expect(terminal.stdout).not.toContain('owls');
    expect((await readdir(sandbox.path('me'))).sort()).toEqual(['identity', 'identity.lock']);

    expect((await id()).event).toMatchObject({ event: 'error', code: 'IDENTITY_LOCKED' });
    await writeFile(sandbox.path('wrong'), 'three big owls\n');
    expect((await id('--passphrase-file', 'wrong')).event).toMatchObject({
      message: expect.stringContaining('is wrong'),
    });
    await writeFile(sandbox.path('right'), 'three small owls\n');
    const opened = await id('--passphrase-file', 'right');
    expect(opened.event).toEqual({ ...before.event, lock: 'passphrase' });
  });

  it('changes nothing when the two inputs differ, or at Ctrl-C, and restores the terminal', async () => {
    const before = await id();
    const differ = await sandbox.startOnTerminal(['id', 'passphrase', ...CONFIG]);
    await differ.shows(/New passphrase: /);
    differ.type('three small owls\r');
    await differ.shows(/Repeat it: /);
    differ.type('three big owls\r');
    expect(await differ.ended).toBe(2);
    const stopped = await sandbox.startOnTerminal(['id', 'passphrase', ...CONFIG], 'echo "exit $?"; stty -a');
    await stopped.shows(/New passphrase: /);
    stopped.type('three\u0003');
    await stopped.ended;
    expect(stopped.stdout).toContain('exit 130');
    expect(stopped.stdout).toMatch(/\sicanon\s/);
    expect(stopped.stdout).toMatch(/\secho\s/);
    expect(await id()).toEqual(before);
  });

  it('moves to another machine as an encrypted copy', async () => {
    const { event } = await id();
    await writeFile(sandbox.path('words'), 'three small owls\n');
    expect((await id('export', 'me.kdid', '--new-passphrase-file', 'words')).code).toBe(0);
    const there = await sandbox.start([
      ...['id', 'import', 'me.kdid', '--passphrase-file', 'words', '--config', 'there', '--json'],
    ]);
    await there.ended;
    expect(there.events()[0]).toEqual(event);
    expect((await readFile(sandbox.path('me.kdid'))).includes(Buffer.from('owls'))).toBe(false);
  });

  it('is replaced only with --yes', async () => {
    const before = await id();
    expect((await id('rotate')).event).toMatchObject({ code: 'USAGE' });
    expect(await id()).toEqual(before);
    const after = await id('rotate', '--yes');
    expect(after.event?.fingerprint).not.toBe(before.event?.fingerprint);
    expect(await id()).toEqual(after);
  });

  it.skipIf(!IS_ROOT)('is closed to another user of the machine (needs root, to run as one)', async () => {
    await id();
    for (const file of ['identity', 'identity.key']) {
      const other = await sandbox.start([sandbox.path('me', file)], { command: ['cat'], uid: NOBODY });
      expect(await other.ended).not.toBe(0);
      expect(other.stdout).toBe('');
    }
  });
});

// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IS_ROOT, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { PROGRAM } from '../hostile/command.ts';

const AUTOSTART = '.config/autostart/keibidrop-daemon.desktop';
const UNIT = '.config/systemd/user/keibidrop-daemon.service';
const WANTED = '.config/systemd/user/default.target.wants/keibidrop-daemon.service';
/** An empty /run, with or without the folder by which systemd says that it runs. */
const runFolder = (systemd: boolean) =>
  `mount -t tmpfs tmpfs /run && ${systemd ? 'mkdir -p /run/systemd/system' : 'true'} && exec "$@"`;

describe.runIf(IS_ROOT)('keibidrop daemon --install (needs root, for a /run of its own)', () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await Sandbox.open();
  });
  afterEach(async () => {
    await (await sandbox.start(['stop', '--config', 'me 100%'])).ended;
    await sandbox.close();
  });

  async function daemon(words: string[], { systemd = false } = {}) {
    const under = ['unshare', '--mount', 'sh', '-c', runFolder(systemd), 'sh'];
    const options: StartOptions = { under, env: { XDG_CONFIG_HOME: sandbox.path('.config') } };
    const running = await sandbox.start(['daemon', ...words, '--json'], options);
    expect([await running.ended, running.stderr]).toEqual([0, '']);
    return running.events().at(-1);
  }

  it('writes an autostart entry where systemd does not run, starts the daemon, and removes only the entry', async () => {
    const file = sandbox.path(AUTOSTART);
    const installed = { event: 'installed', kind: 'autostart', file, running: true };
    expect(await daemon(['--install', '--config', 'me 100%'])).toMatchObject(installed);
    const status = await sandbox.start(['status', '--config', 'me 100%', '--json']);
    expect(await status.ended).toBe(0);
    const [, exec] = /^Exec=(.*)$/m.exec(await readFile(file, 'utf8')) ?? [];
    expect(exec).toBe(`${process.execPath} ${PROGRAM} daemon --config "${sandbox.home}/me 100%%"`);

    expect(await daemon(['--uninstall'])).toMatchObject({ event: 'uninstalled', files: [file] });
    expect(existsSync(file)).toBe(false);
    expect(await readdir(sandbox.path('me 100%'))).not.toEqual([]);
    expect(await daemon(['--uninstall'])).toMatchObject({ files: [] });
  });

  it('writes and enables a user unit where systemd runs, and removes both', async () => {
    const file = sandbox.path(UNIT);
    // No user manager can be reached here: it starts at the next login.
    const installed = { event: 'installed', kind: 'systemd', file, running: false };
    expect(await daemon(['--install'], { systemd: true })).toMatchObject(installed);
    expect(await daemon(['--install'], { systemd: true })).toMatchObject(installed);
    expect(await readFile(file, 'utf8')).toContain(`ExecStart=${process.execPath} ${PROGRAM} daemon\n`);
    expect(await readlink(sandbox.path(WANTED))).toBe(file);

    expect(await daemon(['--uninstall'], { systemd: true })).toMatchObject({ files: [file] });
    expect(existsSync(file)).toBe(false);
    await expect(lstat(sandbox.path(WANTED))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses settings that belong in config.toml', async () => {
    const running = await sandbox.start(['daemon', '--install', '--listen', '127.0.0.1:0']);
    expect(await running.ended).toBe(2);
    expect(running.stderr).toContain('config.toml');
  });
});

// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastOf, run, Sandbox } from '../harness/sandbox.ts';
import { InstalledProgram } from './installed-program.ts';
import { LACKING, openScreen, type Screen } from './screen.ts';

const PLATFORM = `${process.platform}-${process.arch}`;

describe.skipIf(LACKING)(`keibidrop desktop (lacking: ${LACKING || 'nothing'})`, () => {
  let sandbox: Sandbox;
  let screen: Screen;
  let program: InstalledProgram;
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    screen = await openScreen();
    program = await InstalledProgram.install(sandbox, screen);
  });
  afterAll(async () => {
    await program?.close();
    for (const config of ['me', 'other']) await (await sandbox.start(['stop', '--config', config])).ended;
    await sandbox.close();
    screen?.close();
  });

  const desktop = async (args: string[], env: Record<string, string> = {}) => {
    const running = await sandbox.start(['desktop', '--json', ...args], program.options(env));
    return { exit: await running.ended, last: lastOf(running), stderr: running.stderr };
  };

  it('opens the window with its page and daemon, and ends', async () => {
    expect(await desktop(['--config', 'me'])).toMatchObject({ exit: 0, last: { event: 'window', outcome: 'opened' } });
    const page = await program.page();
    await page.getByRole('button', { name: 'Skip', exact: true }).click();
    await page.getByRole('navigation').waitFor();
    // The daemon that the window has started is this program's.
    const status = await sandbox.start(['status', '--config', 'me', '--json'], program.options());
    expect(await status.ended).toBe(0);
    const { pid } = lastOf(status) as { pid?: number };
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).toContain(sandbox.path('dist/keibidrop.cjs'));
  });

  it('brings a link to the open window, which fills in its code and accepts nothing', async () => {
    const link = 'keibidrop://receive/7-guitar-pencil';
    expect(await desktop(['--config', 'me', link])).toMatchObject({ exit: 0, last: { outcome: 'handed-over' } });
    const page = await program.page();
    await page.waitForURL(/#\/receive$/);
    await expect.poll(() => page.locator('input').first().inputValue()).toBe('7-guitar-pencil');
    const transfers = await sandbox.start(['transfers', '--config', 'me', '--json'], program.options());
    expect(await transfers.ended).toBe(0);
    expect(transfers.stdout).not.toContain('receive');
  });

  it('brings files to the open window, by path and by address', async () => {
    await writeFile(sandbox.path('a b 🎈\n.txt'), 'content');
    const address = `file://${encodeURI(sandbox.path('a b 🎈\n.txt'))}`;
    expect(await desktop(['--config', 'me', address])).toMatchObject({ exit: 0 });
    await (await program.page()).getByText('a b 🎈', { exact: false }).first().waitFor();
  });

  it.each([
    ['a file that is not there', ['missing'], 1, 'TRANSFER_SOURCE_MISSING'],
    ['a link of another form', ['keibidrop://run/x'], 2, 'USAGE'],
    ['a link with no code', ['keibidrop://receive/guitar'], 2, 'CODE_MALFORMED'],
    ['a file on another computer', ['file://other/x'], 2, 'USAGE'],
  ])('refuses %s', async (_what, args, exit, code) => {
    expect(await desktop(['--config', 'me', ...args])).toMatchObject({ exit, last: { event: 'error', code } });
  });

  it('offers the browser without Electron, without a screen, and when Electron crashes', async () => {
    const none = await desktop(['--no-download'], { ELECTRON_OVERRIDE_DIST_PATH: '' });
    expect(none).toMatchObject({ exit: 1, last: { code: 'WINDOW_UNAVAILABLE' } });
    expect(none.last?.message).toContain('keibidrop ui');
    for (const [screen, message] of [
      ['', 'no screen'],
      [':4711', 'before it opened'],
    ] as const) {
      const failed = await desktop(['--config', 'other'], { DISPLAY: screen });
      expect(failed).toMatchObject({ exit: 1, last: { code: 'WINDOW_UNAVAILABLE' } });
      expect(failed.last?.message).toContain(message);
    }
  });

  it('downloads Electron once, and only the one that it expects', async () => {
    await program.close();
    const archive = sandbox.path('electron.zip');
    // The digest of the release stands beside the window; here it is the digest of a zip of the wrapped Electron.
    run('python3', '-c', ZIP, archive, sandbox.path('electron/electron'));
    const digest = createHash('sha256')
      .update(await readFile(archive))
      .digest('hex');
    const release = (sha256: string) =>
      writeFile(
        sandbox.path('dist/desktop/electron.json'),
        JSON.stringify({ version: '9.4.1', sha256: { [PLATFORM]: sha256 } }),
      );
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      createReadStream(archive).pipe(response);
    }).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const env = { ELECTRON_OVERRIDE_DIST_PATH: '', ELECTRON_MIRROR: mirror };
      await release('0'.repeat(64));
      const refused = await desktop(['--config', 'other'], env);
      expect(refused).toMatchObject({ exit: 1, last: { code: 'WINDOW_UNAVAILABLE' } });
      const kept = await readdir(sandbox.path('cache/keibidrop'));
      expect(kept.filter((name) => name !== 'code')).toEqual([]); // `code`: decision 032

      await release(digest);
      const opened = await desktop(['--config', 'other'], env);
      expect(opened).toMatchObject({ exit: 0, last: { outcome: 'opened' } });
      expect(opened.stderr).toContain('Downloading Electron 9.4.1');
      const program = sandbox.path(`cache/keibidrop/electron-9.4.1-${PLATFORM}/electron`);
      expect((await stat(program)).mode & 0o777).toBe(0o755);
      expect(await desktop(['--config', 'other'], env)).toMatchObject({ exit: 0, last: { outcome: 'handed-over' } });
      expect(asked).toEqual(Array(2).fill(`/v9.4.1/electron-v9.4.1-${PLATFORM}.zip`));
    } finally {
      server.close();
    }
  });
});

/** Writes a zip with a program `electron` and a link to it, as Electron's archives have them. */
const ZIP = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:
    for name, mode, data in [('electron', 0o100755, open(sys.argv[2], 'rb').read()), ('link', 0o120777, b'electron')]:
        info = zipfile.ZipInfo(name)
        info.create_system = 3
        info.external_attr = mode << 16
        archive.writestr(info, data)
`;

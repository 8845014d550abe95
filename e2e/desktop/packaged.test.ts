// SPDX-License-Identifier: MPL-2.0
import { link, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, Sandbox } from '../harness/sandbox.ts';
import { buildApp, OwnWindow, until } from './own-window.ts';
import { ELECTRON, LACKING, openScreen, type Screen } from './screen.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe.skipIf(LACKING)(`a packaged window (lacking: ${LACKING || 'nothing'})`, () => {
  let sandbox: Sandbox;
  let screen: Screen;
  let own: OwnWindow | undefined;
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    screen = await openScreen();
  });
  afterAll(async () => {
    await own?.close();
    await (await sandbox.start(['stop', '--config', 'me'])).ended;
    await sandbox.close();
    screen?.close();
  });

  /**
   * Lays out a package as electron-builder does, with the archive of the window as a folder: the program, and
   * `resources` beside it.
   */
  async function layOut(): Promise<string> {
    const from = dirname(ELECTRON ?? '');
    const to = sandbox.path('packaged');
    await mkdir(join(to, 'resources'), { recursive: true });
    for (const entry of await readdir(from, { withFileTypes: true })) {
      const path = join(from, entry.name);
      if (entry.name === 'electron') run('cp', '--link', path, join(to, 'keibidrop-desktop'));
      else if (entry.isDirectory() && entry.name !== 'resources') await symlink(path, join(to, entry.name));
      else if (entry.isFile()) await link(path, join(to, entry.name)).catch(() => symlink(path, join(to, entry.name)));
    }
    run(join(ROOT, 'scripts/package-desktop'), '--parts');
    await symlink(await buildApp(sandbox), join(to, 'resources', 'app'));
    await symlink(join(ROOT, 'apps/desktop/dist/keibidrop'), join(to, 'resources', 'keibidrop'));
    return join(to, 'keibidrop-desktop');
  }

  it('runs its daemon with the Node from the package', async () => {
    const packaged = await layOut();
    own = await OwnWindow.start(sandbox, { packaged, screen, config: 'me', env: { PATH: '/nonexistent' } });
    const page = await own.page();
    await page.getByRole('navigation').waitFor();
    const { pid } = await own.call<{ pid: number }>('status');
    expect(await readlink(`/proc/${pid}/exe`)).toBe(join(ROOT, 'apps/desktop/dist/keibidrop/node'));
    expect(await own.main.evaluate(({ app }) => app.isPackaged)).toBe(true);
    // Files open in it as they do in a checkout.
    await own.startAgain(['keibidrop://receive/7-guitar-pencil']);
    await until(async () => expect(page.url()).toMatch(/#\/receive$/));
  });
});

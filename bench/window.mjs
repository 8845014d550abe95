// SPDX-License-Identifier: MPL-2.0

// window: the time from the command typed to the first picture of the desktop's window, with the daemon running and
// without. It uses the Electron of the tests (scripts/fetch-test-electron) on a virtual screen. The page itself reports
// its first paint.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { _electron } from 'playwright-core';
import { checkout } from './workspace.mjs';

const BAR_SECONDS = 1;
const FETCHED = `${checkout}e2e/desktop/build/electron/electron`;
const cli = `${checkout}apps/cli/dist/keibidrop.cjs`;

export async function prepare(workspace) {
  if (!existsSync(FETCHED)) throw new Error('There is no Electron: run scripts/fetch-test-electron.');
  const app = workspace.path('app');
  const options = ['--out', app, '--target', 'node12.14', '--inject', `${checkout}e2e/desktop/node-12.ts`];
  execFileSync(process.execPath, [`${checkout}scripts/bundle-desktop.mjs`, ...options]);
  await writeFile(`${app}/package.json`, '{ "name": "keibidrop", "version": "0.1.0", "main": "main.cjs" }');
  const screen = spawn('Xvfb', ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', '1600x1000x24'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [number] = await once(createInterface(screen.stdout), 'line');
  const config = workspace.path('window-config');
  await mkdir(workspace.path('runtime'), { recursive: true, mode: 0o700 });
  const env = {
    PATH: process.env.PATH,
    HOME: workspace.path('home'),
    XDG_RUNTIME_DIR: workspace.path('runtime'),
    KD_CONFIG_DIR: config,
    KD_DISCOVERY: 'off',
    DISPLAY: `:${number}`,
  };
  await mkdir(env.HOME, { recursive: true });
  const command = (...args) => execFileSync(process.execPath, [cli, ...args, '--json'], { env });
  return {
    title: "the desktop's window, from typed to its first picture",
    cases: [
      {
        name: 'the daemon runs',
        run: () => {
          command('ui');
          return opened(app, env);
        },
      },
      {
        name: 'the daemon does not',
        run: () => {
          command('stop');
          return opened(app, env);
        },
      },
    ],
    bars(summary) {
      const { median } = summary.get('the daemon runs');
      return [{ text: `${median.toFixed(2)} s, bar ${BAR_SECONDS} s`, met: median <= BAR_SECONDS }];
    },
    async close() {
      command('stop');
      screen.kill();
    },
  };
}

/** Includes Playwright's own start of Electron, which waits for a debugger. */
async function opened(app, env) {
  const started = Date.now();
  const electron = await _electron.launch({ executablePath: FETCHED, args: [app, '--no-sandbox'], env });
  try {
    const page = await electron.firstWindow();
    await page.locator('h1').first().waitFor();
    const painted = await page.waitForFunction(() => {
      const [first] = performance.getEntriesByName('first-contentful-paint');
      return first && performance.timeOrigin + first.startTime;
    });
    return { seconds: ((await painted.jsonValue()) - started) / 1000 };
  } finally {
    const ended = once(electron.process(), 'exit');
    electron.process().kill('SIGKILL');
    await ended;
  }
}

// SPDX-License-Identifier: MPL-2.0
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const FETCHED = fileURLToPath(new URL('build/electron/electron', import.meta.url));

/**
 * Electron for the tests: the named one, the one from the `electron` package, or the one of
 * scripts/fetch-test-electron.
 */
export const ELECTRON = [named(), installed(), FETCHED].find((path) => path !== undefined && existsSync(path));

/** Why the tests of the desktop cannot run; undefined if they can. */
export const LACKING = [
  ...(ELECTRON === undefined ? ['Electron (scripts/fetch-test-electron)'] : []),
  ...(spawnSync('which', ['Xvfb']).status === 0 ? [] : ['Xvfb']),
].join(' and ');

/** A virtual screen. */
export interface Screen {
  /** DISPLAY */
  readonly display: string;
  close(): void;
}

export async function openScreen(): Promise<Screen> {
  const command = ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', '1600x1000x24'];
  const screen = spawn('Xvfb', command, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [number] = await once(createInterface(screen.stdout), 'line');
  return { display: `:${number}`, close: () => void screen.kill() };
}

function named(): string | undefined {
  const { ELECTRON_OVERRIDE_DIST_PATH: folder } = process.env;
  return folder ? join(folder, 'electron') : undefined;
}

/** Where the install script of `electron` puts the program; tests do not run that script. */
function installed(): string | undefined {
  const desktop = createRequire(new URL('../../apps/desktop/package.json', import.meta.url));
  return join(dirname(desktop.resolve('electron/package.json')), 'dist', 'electron');
}

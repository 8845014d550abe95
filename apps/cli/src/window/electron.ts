// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import type { Io } from '../terminal/io.ts';

/** The Electron that this version of the window was made for, as `desktop/electron.json` beside the program names it. */
export interface ElectronRelease {
  readonly version: string;
  /** Digests of the archives, in hexadecimal, by `PLATFORM-ARCH`. */
  readonly sha256: Readonly<Record<string, string>>;
}

const PROGRAMS: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'electron',
  darwin: 'Electron.app/Contents/MacOS/Electron',
  win32: 'electron.exe',
};

/** Path of the program within a folder of Electron. @throws WINDOW_UNAVAILABLE */
export function programIn(folder: string, platform: NodeJS.Platform = process.platform): string {
  const program = PROGRAMS[platform];
  if (program === undefined) throw unavailable(`There is no Electron for ${platform}`);
  return join(folder, program);
}

/**
 * Finds an Electron on this computer: the one of ELECTRON_OVERRIDE_DIST_PATH, of the package `electron` installed beside this
 * program, or one that was downloaded before. Undefined if there is none.
 *
 * @param app  folder of the window, from where the package is searched
 * @throws WINDOW_UNAVAILABLE when the named folder has none
 */
export function findElectron(app: string, downloaded: string, env: Io['env']): string | undefined {
  const { ELECTRON_OVERRIDE_DIST_PATH: named } = env;
  if (named) {
    const program = programIn(named);
    if (existsSync(program)) return program;
    throw unavailable('The folder of ELECTRON_OVERRIDE_DIST_PATH has no Electron');
  }
  const folders = [packageFolder(app), downloaded].filter((folder) => folder !== undefined);
  return folders.map((folder) => programIn(folder)).find((program) => existsSync(program));
}

/** Where `npm install electron` puts the program. */
function packageFolder(app: string): string | undefined {
  try {
    return join(dirname(createRequire(join(app, 'main.cjs')).resolve('electron/package.json')), 'dist');
  } catch {
    return undefined; // not installed
  }
}

/** @param what  the reason, without a full stop */
export function unavailable(what: string, cause?: unknown): KeibiError {
  const advice = 'Use the same page in the browser: keibidrop ui.';
  return new KeibiError('WINDOW_UNAVAILABLE', `${what}. ${advice}`, cause === undefined ? {} : { cause });
}

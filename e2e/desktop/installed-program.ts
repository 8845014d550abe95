// SPDX-License-Identifier: MPL-2.0
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { freePort } from '../../bench/free-port.mjs';
import type { Sandbox, StartOptions } from '../harness/sandbox.ts';
import { buildApp, until } from './own-window.ts';
import { ELECTRON, type Screen } from './screen.ts';

const DIST = fileURLToPath(new URL('../../apps/cli/dist/', import.meta.url));
const ADDON = fileURLToPath(new URL('../../native/build/keibidrop.node', import.meta.url));

/**
 * The files of the npm package in a sandbox, with the window built for the Electron of the tests. `keibidrop desktop` in it
 * starts that Electron, which as root needs an option that the command never gives.
 */
export class InstalledProgram {
  readonly #sandbox: Sandbox;
  readonly #screen: Screen;
  readonly #port: number;
  #browser: Browser | undefined;

  static async install(sandbox: Sandbox, screen: Screen): Promise<InstalledProgram> {
    const dist = sandbox.path('dist');
    await mkdir(dist);
    for (const name of await readdir(DIST)) if (name.endsWith('.cjs')) await cp(join(DIST, name), join(dist, name));
    await cp(join(DIST, 'page'), join(dist, 'page'), { recursive: true });
    const app = await buildApp(sandbox);
    await rm(join(app, 'renderer')); // a package has the page once
    await rename(app, join(dist, 'desktop'));
    await cp(join(DIST, 'desktop/electron.json'), join(dist, 'desktop/electron.json'));
    const installed = new InstalledProgram(sandbox, screen, await freePort());
    await installed.#writeElectron(sandbox.path('electron'));
    return installed;
  }

  private constructor(sandbox: Sandbox, screen: Screen, port: number) {
    this.#sandbox = sandbox;
    this.#screen = screen;
    this.#port = port;
  }

  /** The command that runs the program. */
  get command(): string[] {
    return [process.execPath, this.#sandbox.path('dist/keibidrop.cjs')];
  }

  /** Options of Sandbox.start. */
  options(env: Record<string, string> = {}): StartOptions {
    return { command: this.command, env: { ...this.env, ...env } };
  }

  get env(): Record<string, string> {
    return {
      DISPLAY: this.#screen.display,
      ELECTRON_OVERRIDE_DIST_PATH: this.#sandbox.path('electron'),
      KD_NATIVE_BINDING: process.env.KD_NATIVE_BINDING ?? ADDON,
      LANG: 'en_US.UTF-8',
      XDG_CONFIG_HOME: this.#sandbox.path('config-home'),
      XDG_CACHE_HOME: this.#sandbox.path('cache'),
    };
  }

  /** Writes a folder with a program `electron`, which leaves its process id in the sandbox. */
  async #writeElectron(folder: string): Promise<void> {
    const flags = `--no-sandbox --remote-debugging-port=${this.#port}`;
    const lines = ['#!/bin/sh', `echo $$ >> '${this.#sandbox.path('pids')}'`, `exec '${ELECTRON}' ${flags} "$@"`, ''];
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'electron'), lines.join('\n'));
    await chmod(join(folder, 'electron'), 0o755);
  }

  /** The page of the open window. */
  async page(): Promise<Page> {
    this.#browser ??= await chromium.connectOverCDP(`http://127.0.0.1:${this.#port}`, { noDefaults: true });
    const [context] = this.#browser.contexts();
    return until(async () => {
      const page = context?.pages().find((each) => each.url().startsWith('keibidrop-app:'));
      if (page === undefined) throw new Error('There is no page yet.');
      return page;
    });
  }

  /** Kills all windows. */
  async close(): Promise<void> {
    await this.#browser?.close().catch(() => {});
    const pids = await readFile(this.#sandbox.path('pids'), 'utf8').catch(() => '');
    for (const pid of pids.split('\n').filter((line) => line !== '')) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
    this.#browser = undefined;
    await rm(this.#sandbox.path('pids'), { force: true });
  }
}

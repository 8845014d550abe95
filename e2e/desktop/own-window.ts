// SPDX-License-Identifier: MPL-2.0
import { type ChildProcess, execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { _electron, type ElectronApplication, type Page } from 'playwright-core';
import { vi } from 'vitest';
import type { Sandbox } from '../harness/sandbox.ts';
import { ELECTRON, type Screen } from './screen.ts';

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** Longer than any wait on a busy machine, so it ends only tests that hang. */
const LOADED_MS = 240_000;

/** The delivered program plus what its Node lacks; built once for each sandbox. */
export async function buildApp(sandbox: Sandbox): Promise<string> {
  const app = sandbox.path('app');
  const options = ['--out', app, '--target', 'node12.14', '--inject', here('node-12.ts')];
  await run(process.execPath, [here('../../scripts/bundle-desktop.mjs'), ...options]);
  await writeFile(`${app}/package.json`, '{ "name": "keibidrop", "version": "0.1.0", "main": "main.cjs" }');
  return app;
}

export interface WindowOptions {
  /** The folder from buildApp; absent for `packaged`. */
  app?: string;
  screen: Screen;
  /** The configuration directory in the sandbox; each user has one. */
  config: string;
  args?: string[];
  /** The program of a packaged window. */
  packaged?: string;
  env?: Record<string, string>;
}

/** A window of a user of the sandbox: a real Electron with its daemon. */
export class OwnWindow {
  readonly #sandbox: Sandbox;
  readonly #command: string[];
  readonly #env: Record<string, string>;
  readonly #running: ElectronApplication;
  readonly #process: ChildProcess;
  #page: Page | undefined;

  static async start(
    sandbox: Sandbox,
    { app, screen, config, args = [], packaged, env: more }: WindowOptions,
  ): Promise<OwnWindow> {
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: sandbox.home,
      XDG_RUNTIME_DIR: sandbox.path(`run-${process.getuid?.()}`),
      XDG_CONFIG_HOME: sandbox.path(`${config}-home`),
      KD_CONFIG_DIR: sandbox.path(config),
      KD_DISCOVERY: 'off',
      KD_PATIENCE: '0',
      DISPLAY: screen.display,
      LANG: 'en_US.UTF-8',
      ...more,
    };
    const command = [packaged ?? ELECTRON ?? '', ...(app === undefined ? [] : [app]), '--no-sandbox'];
    await mkdir(env.XDG_RUNTIME_DIR, { recursive: true, mode: 0o700 });
    const [executablePath = '', ...before] = command;
    const running = await _electron.launch({
      executablePath,
      args: [...before, ...args],
      env,
      cwd: sandbox.home,
      timeout: LOADED_MS,
    });
    running.context().setDefaultTimeout(LOADED_MS);
    return new OwnWindow(sandbox, command, env, running);
  }

  private constructor(sandbox: Sandbox, command: string[], env: Record<string, string>, running: ElectronApplication) {
    this.#sandbox = sandbox;
    this.#command = command;
    this.#env = env;
    this.#running = running;
    this.#process = running.process();
  }

  /** The main process. */
  get main(): ElectronApplication {
    return this.#running;
  }

  /** The page of the window, past the welcome pages. */
  async page(): Promise<Page> {
    if (this.#page !== undefined) return this.#page;
    const page = await this.#running.firstWindow({ timeout: LOADED_MS });
    this.#page = page;
    // A new user sees the welcome pages first.
    const navigation = page.getByRole('navigation');
    const skip = page.getByRole('button', { name: 'Skip', exact: true });
    await navigation.or(skip).first().waitFor();
    if (await skip.isVisible()) await skip.click();
    return page;
  }

  /** Starts the program a second time; resolves when that second process has ended. */
  async startAgain(args: string[], cwd = this.#sandbox.home): Promise<void> {
    const [program = '', ...before] = this.#command;
    await run(program, [...before, ...args], { env: this.#env, cwd, timeout: LOADED_MS });
  }

  /** The daemon's reply to a call by the page. */
  async call<T>(method: string, request: object = {}): Promise<T> {
    const outcome = await (await this.page()).evaluate(
      ([name, asked]) => window.keibidrop?.request('daemon.call', { call: 0, method: name, request: asked } as never),
      [method, request] as const,
    );
    if (outcome === undefined) throw new Error('There is no preload.');
    if ('error' in outcome) throw new Error(`${method}: ${outcome.error.code}: ${outcome.error.message}`);
    return outcome.result as T;
  }

  /** Kills the process without asking it to quit. */
  async close(): Promise<void> {
    const ended = this.ended();
    this.#process.kill('SIGKILL');
    await ended;
  }

  /** Resolves when the process has ended. */
  ended(): Promise<unknown> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => this.#process.once('exit', resolve));
  }
}

/** Resolves when `expectation` holds. */
export function until<T>(expectation: () => Promise<T>): Promise<T> {
  return vi.waitFor(expectation, { timeout: LOADED_MS, interval: 50 });
}

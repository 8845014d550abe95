// SPDX-License-Identifier: MPL-2.0
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { harmless } from '../terminal/terminal-text.ts';
import { unavailable } from './electron.ts';

/** The command that runs this program, for the window: it starts the daemon with it. */
const PROGRAM_VARIABLE = 'KD_WINDOW_PROGRAM';
const START_TIMEOUT_MS = 120_000;
const MAX_LOG_BYTES = 64 * 1024;
const SHOWN_LINES = 3;

export interface WindowStart {
  /** Path of Electron's program. */
  readonly electron: string;
  /** Folder of the window: its package.json and main.cjs. */
  readonly app: string;
  /** Absolute paths, links and options of the window. */
  readonly args: readonly string[];
  /** The command that runs this program. */
  readonly program: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/**
 * Starts the window, or hands `args` to the one that runs already. The window stays when this program ends.
 *
 * @returns  `opened`, or `handed-over` to a running window
 * @throws WINDOW_UNAVAILABLE with the last lines that Electron printed; `signal.reason`
 */
export async function startWindow({ electron, app, args, program, env, signal }: WindowStart) {
  signal.throwIfAborted();
  // The window keeps only the open file: nothing stays behind.
  const folder = mkdtempSync(join(tmpdir(), 'keibidrop-window-'));
  const log = join(folder, 'log');
  const output = openSync(log, 'w', 0o600);
  const child = spawn(electron, [app, ...args], {
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
    env: { ...withoutNodeMode(env), [PROGRAM_VARIABLE]: JSON.stringify(program) },
  });
  const end = () => void child.kill('SIGKILL');
  const timer = setTimeout(end, START_TIMEOUT_MS);
  signal.addEventListener('abort', end, { once: true });
  try {
    return await new Promise<'opened' | 'handed-over'>((resolve, reject) => {
      child.once('message', () => resolve('opened'));
      child.once('error', (reason) => reject(unavailable(`Electron cannot be started (${reason.message})`, reason)));
      child.once('exit', (code, killedBy) => {
        if (code === 0) resolve('handed-over');
        else reject(signal.aborted ? signal.reason : failed(code ?? killedBy, log));
      });
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    if (child.connected) child.disconnect();
    child.unref();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Some editors run their programs with this set, and Electron would be only Node. */
function withoutNodeMode(env: WindowStart['env']) {
  const { ELECTRON_RUN_AS_NODE: _, ...rest } = env;
  return rest;
}

function failed(how: number | NodeJS.Signals | null, log: string) {
  const lines = readFileSync(log).subarray(-MAX_LOG_BYTES).toString().split('\n');
  const last = lines.filter((line) => line.trim() !== '').slice(-SHOWN_LINES);
  return unavailable([`The window ended with ${how} before it opened`, ...last.map(harmless)].join('\n  '));
}

// SPDX-License-Identifier: MPL-2.0
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The built program; KD_TEST_PROGRAM names another build. */
export const program = process.env.KD_TEST_PROGRAM ?? fileURLToPath(new URL('../dist/keibidrop.cjs', import.meta.url));

/** A command running in its own process. */
export interface Running {
  readonly child: ChildProcess;
  /** Output so far. */
  readonly printed: { stdout: string; stderr: string };
  /** Resolves once `pattern` matches its stdout; rejects if the process ends first. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  /** Exit code, or the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts `keibidrop ARGS` with `home` as its folder, home and runtime directory, and none of this process's settings. */
export function start(
  args: string[],
  home: string,
  options: { env?: Record<string, string>; stdin?: string; program?: string } = {},
): Running {
  const base = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home, KD_DISCOVERY: 'off' };
  const child = spawn(process.execPath, [options.program ?? program, ...args], {
    cwd: home,
    env: { ...base, ...options.env },
    timeout: 30_000,
  });
  const printed = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
      for (const watch of watchers) watch();
    });
  }
  child.stdin.on('error', () => {}).end(options.stdin ?? '');
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  );
  const shows = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const watch = (): void => {
        const match = pattern.exec(printed.stdout);
        if (match === null) return;
        watchers.delete(watch);
        resolve(match);
      };
      watchers.add(watch);
      watch();
      void ended.then((exit) =>
        reject(new Error(`ended with ${exit} and never showed ${pattern}: ${JSON.stringify(printed)}`)),
      );
    });
  return { child, printed, shows, ended };
}

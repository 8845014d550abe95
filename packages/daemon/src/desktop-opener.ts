// SPDX-License-Identifier: MPL-2.0
import { spawn } from 'node:child_process';

/** Some openers end only with the program that they open. */
const SHOWN_AFTER_MS = 2000;

/** Opens a file or a folder with the desktop. @returns  false without a desktop */
export function openByDesktop(path: string, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  if (process.platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return Promise.resolve(false);
  const command = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open';
  return new Promise((resolve) => {
    const child = spawn(command, [path], { stdio: 'ignore', detached: true, env });
    const timer = setTimeout(() => resolve(true), SHOWN_AFTER_MS);
    const end = (opened: boolean) => {
      clearTimeout(timer);
      resolve(opened);
    };
    child.once('error', () => end(false));
    // Explorer always exits with 1.
    child.once('exit', (code) => end(code === 0 || process.platform === 'win32'));
    child.unref();
  });
}

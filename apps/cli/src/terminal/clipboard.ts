// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { KeibiError, MAX_TEXT_BYTES } from '@keibidrop/protocol';
import type { Io } from './io.ts';

interface Reader {
  program: string;
  args: string[];
  /** Debian package that contains the program. */
  from?: string;
}

const READ_TIMEOUT_MS = 5000;

/**
 * The text on the user's clipboard, read by this system's program for it.
 *
 * @throws USAGE without a screen, such a program or a text; TRANSFER_LIMIT_EXCEEDED; `io.signal.reason`
 */
export async function readClipboard({ env, signal }: Pick<Io, 'env' | 'signal'>): Promise<string> {
  const readers = readersOf(env);
  if (readers.length === 0) throw new KeibiError('USAGE', 'There is no screen here, so there is no clipboard.');
  for (const reader of readers) {
    const text = await readBy(reader, env, signal);
    if (text === '') throw new KeibiError('USAGE', 'There is no text on the clipboard.');
    if (text !== undefined) return text;
  }
  const packages = readers.flatMap(({ from }) => from ?? []).join(' or ');
  throw new KeibiError('USAGE', `No installed program can read the clipboard. Install ${packages}.`);
}

function readersOf(env: Io['env']): Reader[] {
  if (process.platform === 'darwin') return [{ program: 'pbpaste', args: [] }];
  if (process.platform === 'win32') {
    return [{ program: 'powershell', args: ['-NoProfile', '-Command', 'Get-Clipboard -Raw'] }];
  }
  const wayland = { program: 'wl-paste', args: ['--no-newline'], from: 'wl-clipboard' };
  const x11 = [
    { program: 'xclip', args: ['-selection', 'clipboard', '-o'], from: 'xclip' },
    { program: 'xsel', args: ['--clipboard', '--output'], from: 'xsel' },
  ];
  return [...(env.WAYLAND_DISPLAY ? [wayland] : []), ...(env.DISPLAY ? x11 : [])];
}

/** @returns  '' without a text, undefined if the program is not installed */
function readBy({ program, args }: Reader, env: Io['env'], signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const options = { env, signal, timeout: READ_TIMEOUT_MS, maxBuffer: MAX_TEXT_BYTES, encoding: 'utf8' } as const;
    execFile(program, args, options, (error, text) => {
      if (error === null) return resolve(text);
      const { code } = error as NodeJS.ErrnoException;
      if (signal.aborted) return reject(signal.reason);
      if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
        return reject(new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'The text on the clipboard is longer than 1 MB.'));
      }
      resolve(code === 'ENOENT' ? undefined : '');
    });
  });
}

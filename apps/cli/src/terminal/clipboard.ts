// SPDX-License-Identifier: MPL-2.0
import { execFile, spawn } from 'node:child_process';
import { KeibiError, MAX_TEXT_BYTES } from '@keibidrop/protocol';
import type { Io } from './io.ts';

interface Tool {
  program: string;
  read: string[];
  write: string[];
  /** Debian package that contains the program. */
  from?: string;
  /** The command that writes, if it is another one. */
  writer?: string;
}

const TIMEOUT_MS = 5000;

/**
 * The text on the user's clipboard, read by this system's program for it.
 *
 * @throws USAGE without a screen, such a program or a text; TRANSFER_LIMIT_EXCEEDED; `io.signal.reason`
 */
export async function readClipboard({ env, signal }: Pick<Io, 'env' | 'signal'>): Promise<string> {
  const tools = toolsOf(env);
  if (tools.length === 0) throw new KeibiError('USAGE', 'There is no screen here, so there is no clipboard.');
  for (const { program, read } of tools) {
    const text = await outputOf(program, read, env, signal);
    if (text === '') throw new KeibiError('USAGE', 'There is no text on the clipboard.');
    if (text !== undefined) return text;
  }
  throw new KeibiError('USAGE', `No installed program can read the clipboard. ${installing(tools)}`);
}

/**
 * Puts a text on the user's clipboard: by this system's program for it, else by a request to the terminal, which also works over
 * SSH but has no answer.
 *
 * @returns  false if the terminal was only asked
 * @throws USAGE if there is neither; `io.signal.reason`
 */
export async function writeClipboard(text: string, io: Pick<Io, 'env' | 'signal' | 'stderr'>): Promise<boolean> {
  const { env, signal, stderr } = io;
  const tools = toolsOf(env);
  for (const tool of tools) {
    if (await takes(tool.writer ?? tool.program, tool.write, text, { env, signal })) return true;
  }
  if (!stderr.repaints) {
    const why = tools.length === 0 ? 'There is no screen here.' : installing(tools);
    throw new KeibiError('USAGE', `Nothing here can write to a clipboard. ${why}`);
  }
  // OSC 52, as xterm defines it.
  stderr.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
  return false;
}

function installing(tools: readonly Tool[]): string {
  return `Install ${tools.flatMap(({ from }) => from ?? []).join(' or ')}.`;
}

function toolsOf(env: Io['env']): Tool[] {
  if (process.platform === 'darwin') return [{ program: 'pbpaste', read: [], writer: 'pbcopy', write: [] }];
  if (process.platform === 'win32') {
    const read = ['-NoProfile', '-Command', 'Get-Clipboard -Raw'];
    return [{ program: 'powershell', read, writer: 'clip', write: [] }];
  }
  const wayland = { program: 'wl-paste', read: ['--no-newline'], writer: 'wl-copy', write: [], from: 'wl-clipboard' };
  const xclip = ['-selection', 'clipboard'];
  const x11 = [
    { program: 'xclip', read: [...xclip, '-o'], write: [...xclip, '-i'], from: 'xclip' },
    { program: 'xsel', read: ['--clipboard', '--output'], write: ['--clipboard', '--input'], from: 'xsel' },
  ];
  return [...(env.WAYLAND_DISPLAY ? [wayland] : []), ...(env.DISPLAY ? x11 : [])];
}

/** @returns  '' without a text, undefined if the program is not installed */
function outputOf(program: string, args: string[], env: Io['env'], signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const options = { env, signal, timeout: TIMEOUT_MS, maxBuffer: MAX_TEXT_BYTES, encoding: 'utf8' } as const;
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

/** Whether the program has taken the text. It stays in the background to serve it, so only its first process is waited for. */
function takes(
  program: string,
  args: string[],
  text: string,
  { env, signal }: Pick<Io, 'env' | 'signal'>,
): Promise<boolean> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, signal, timeout: TIMEOUT_MS, stdio: ['pipe', 'ignore', 'ignore'] });
    child.once('error', () => (signal.aborted ? reject(signal.reason) : resolve(false)));
    child.once('exit', (code) => resolve(code === 0));
    child.stdin.on('error', () => {});
    child.stdin.end(text);
  });
}

// SPDX-License-Identifier: MPL-2.0
import type { ReadStream } from 'node:tty';
import { openKeyboard } from './keyboard.ts';

export interface SecretPromptOptions {
  input: ReadStream;
  output: { write(text: string): unknown };
  signal: AbortSignal;
}

const ENDS = ['\r', '\n', '\u0004'];
const CTRL_U = '\u0015';
const BACKSPACES = ['\u007f', '\b'];

/** Asks for a line without echo. Rejects with `signal.reason`; always restores the terminal. */
export async function askSecretOnTerminal(question: string, options: SecretPromptOptions): Promise<string> {
  const { input, output, signal } = options;
  signal.throwIfAborted();
  let line = '';
  let release = () => {};
  try {
    return await new Promise<string>((resolve, reject) => {
      const onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      const keyboard = openKeyboard(input, (key) => {
        if (ENDS.includes(key)) resolve(line);
        else line = edited(line, key);
      });
      release = () => {
        keyboard.close();
        signal.removeEventListener('abort', onAbort);
      };
      // Ask only after echo is off: a script answers at once.
      output.write(question);
    });
  } finally {
    release();
    output.write('\n');
  }
}

/** Applies one key to a line, as a terminal in line mode would. */
function edited(line: string, key: string): string {
  if (key === CTRL_U) return '';
  if (BACKSPACES.includes(key)) return [...line].slice(0, -1).join('');
  return key >= ' ' ? line + key : line;
}

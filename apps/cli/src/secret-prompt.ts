// SPDX-License-Identifier: MPL-2.0
import type { ReadStream } from 'node:tty';

export interface SecretPromptOptions {
  input: ReadStream;
  output: { write(text: string): unknown };
  signal: AbortSignal;
}

const ENTER = /[\r\n]/;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const BACKSPACES = ['\u007f', '\b'];

/** Asks for a line that is not shown while it is typed. Rejects with `signal.reason`; the terminal is as before in any case. */
export async function askSecretOnTerminal(question: string, options: SecretPromptOptions): Promise<string> {
  const { input, output, signal } = options;
  signal.throwIfAborted();
  output.write(question);
  const line = new SecretLine();
  input.setRawMode(true);
  try {
    return await new Promise<string>((resolve, reject) => {
      const take = (typed: Buffer) => line.type(typed.toString('utf8')) && resolve(line.text);
      input
        .on('data', take)
        .once('end', () => resolve(line.text))
        .resume();
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  } finally {
    input.removeAllListeners('data').removeAllListeners('end');
    input.setRawMode(false).pause();
    output.write('\n');
  }
}

/** What a terminal in raw mode sends, edited as a line. */
class SecretLine {
  text = '';

  /** True once the line is complete. */
  type(typed: string): boolean {
    for (const key of typed) {
      if (ENTER.test(key) || key === CTRL_D) return true;
      // In raw mode the terminal leaves that to us.
      if (key === CTRL_C) process.kill(process.pid, 'SIGINT');
      else if (key === CTRL_U) this.text = '';
      else if (BACKSPACES.includes(key)) this.text = [...this.text].slice(0, -1).join('');
      else if (key >= ' ') this.text += key;
    }
    return false;
  }
}

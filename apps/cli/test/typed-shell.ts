// SPDX-License-Identifier: MPL-2.0
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

const TAB = '\t';
const SHOW_LINE = '\u0014';
const CLEAR_LINE = '\u0015';

/** An interactive shell on a terminal of its own, whose settings print READY as prompt and [[the line]] for Ctrl-T. */
export class TypedShell {
  readonly #child: ChildProcessWithoutNullStreams;
  #printed = '';
  #ended = false;
  #onChange = (): void => {};

  /** Resolves at the first prompt. */
  static async start(command: string, options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<TypedShell> {
    const shell = new TypedShell(spawn('script', ['-qfec', command, '/dev/null'], options));
    await shell.#until(/READY/);
    return shell;
  }

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stdout.on('data', (piece) => {
      this.#printed += piece;
      this.#onChange();
    });
    child.on('close', () => {
      this.#ended = true;
      this.#onChange();
    });
  }

  /** The line that `typed` becomes with one key. */
  async complete(typed: string, key = TAB): Promise<string> {
    this.#printed = '';
    this.#child.stdin.write(`${typed}${key}${SHOW_LINE}`);
    const [, line = ''] = await this.#until(/\[\[(.*?)\]\]\r?\n/s);
    this.#child.stdin.write(CLEAR_LINE);
    return line;
  }

  /** Ends the shell as a closed terminal window does. */
  async close(): Promise<void> {
    const ended = once(this.#child, 'close');
    if (this.#ended) return;
    this.#child.kill();
    await ended;
  }

  async #until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#printed);
      if (found !== null) return found;
      if (this.#ended) throw new Error(`the shell has ended: ${this.#printed}`);
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }
}

// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LINES_KEPT = 1000;

/** Whether tests can use tmux here. */
export const HAS_TMUX = spawnSync('tmux', ['-V']).status === 0;

export interface WindowOptions {
  columns: number;
  rows?: number | undefined;
  cwd: string;
  /** The whole environment of the program. */
  env: Record<string, string | undefined>;
}

/** A server of tmux of its own, with windows of exact sizes. */
export class Tmux {
  readonly #directory = mkdtempSync(join(tmpdir(), 'keibidrop-tmux-'));
  #windows = 0;

  /** Runs a command in a new window, which stays open when the command has ended. */
  open(command: readonly string[], { columns, rows = 24, cwd, env }: WindowOptions): TmuxWindow {
    const name = `w${this.#windows++}`;
    const set = Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]));
    const words = ['env', '-i', 'TERM=tmux-256color', ...set, ...command].map(quoted).join(' ');
    const size = ['-x', String(columns), '-y', String(rows), '-c', cwd];
    const option = (key: string, value: string) => [';', 'set-option', '-t', name, key, value];
    this.#run(
      'new-session',
      '-d',
      '-s',
      name,
      ...size,
      words,
      ...option('remain-on-exit', 'on'),
      ...option('status', 'off'),
    );
    return new TmuxWindow((...args) => this.#run(...args), name);
  }

  close(): void {
    if (this.#windows > 0) this.#run('kill-server');
    rmSync(this.#directory, { recursive: true });
  }

  #run(...args: string[]): string {
    const command = ['-u', '-S', join(this.#directory, 'socket'), '-f', '/dev/null', ...args];
    const { status, stdout, stderr } = spawnSync('tmux', command, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`tmux ${args.join(' ')} failed: ${stderr}`);
    return stdout;
  }
}

/** One window: what a person would see, and a keyboard. */
export class TmuxWindow {
  readonly #run: (...args: string[]) => string;
  readonly #name: string;

  constructor(tmuxRun: (...args: string[]) => string, name: string) {
    this.#run = tmuxRun;
    this.#name = name;
  }

  /** The lines on the screen, and those scrolled off it, without empty ones at the end. @param colours  with escape sequences */
  lines({ colours = false } = {}): string[] {
    const text = this.#run('capture-pane', '-p', ...(colours ? ['-e'] : []), '-S', `-${LINES_KEPT}`, '-t', this.#name);
    return text.trimEnd().split('\n');
  }

  text(): string {
    return this.lines().join('\n');
  }

  type(...keys: string[]): void {
    this.#run('send-keys', '-t', this.#name, ...keys);
  }

  resize(columns: number, rows = 24): void {
    this.#run('resize-window', '-t', this.#name, '-x', String(columns), '-y', String(rows));
  }

  /** The process that runs in the window. */
  get pid(): number {
    return Number(this.#run('display-message', '-p', '-t', this.#name, '#{pane_pid}'));
  }

  /** Everything that is written to the window from now on, escape sequences as well, goes to this file. */
  record(file: string): void {
    this.#run('pipe-pane', '-t', this.#name, `cat >> ${quoted(file)}`);
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

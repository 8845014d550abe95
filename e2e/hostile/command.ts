// SPDX-License-Identifier: MPL-2.0
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The delivered program; KD_TEST_PROGRAM names another build of it. */
export const PROGRAM =
  process.env.KD_TEST_PROGRAM ?? fileURLToPath(new URL('../../apps/cli/dist/keibidrop.cjs', import.meta.url));

const LONGEST_RUN_MS = 280_000;
const RSS_EVERY_MS = 25;

/** Processes that still run; killed at exit, in case a test timed out. */
const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** One `--json` line. */
export interface JsonEvent {
  event: string;
  [field: string]: unknown;
}

/** How a command ended, with its output. */
export interface Ending {
  exit: number | NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  events: JsonEvent[];
  /** The code of its `error` line. */
  code: unknown;
  /** Peak resident memory in bytes, as the kernel reports it. */
  peakRss: number;
}

export interface CommandOptions {
  /** Its home, runtime directory and working directory. */
  home: string;
  env?: Record<string, string>;
  stdin?: string;
  /** Runs `node` under this program and its arguments. */
  under?: string[];
}

/** A `keibidrop` command in its own process, without the settings of this one. */
export class Command {
  readonly child: ChildProcess;
  readonly ended: Promise<Ending>;
  #stdout = '';
  #stderr = '';
  #peakRss = 0;
  #over = false;
  readonly #watchers = new Set<() => void>();

  constructor(args: string[], { home, env = {}, stdin = '', under = [] }: CommandOptions) {
    const [program, ...rest] = [...under, process.execPath, PROGRAM, ...args] as [string, ...string[]];
    // A broken connection ends the transfer at once.
    const quick = { KD_DISCOVERY: 'off', KD_PATIENCE: '0' };
    const base = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home, ...quick };
    const child = spawn(program, rest, {
      cwd: home,
      env: { ...base, ...env },
      timeout: LONGEST_RUN_MS,
      killSignal: 'SIGKILL',
    });
    this.child = child;
    alive.add(child);
    child.stdin.on('error', () => {}).end(stdin);
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#print(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    const watching = setInterval(() => this.#look(), RSS_EVERY_MS);
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        clearInterval(watching);
        alive.delete(child);
        this.#over = true;
        this.#print('');
        resolve(this.#ending(code ?? signal));
      });
    });
  }

  /** The first line with this event, past or future. */
  shows(event: string): Promise<JsonEvent> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.events.find((line) => line.event === event);
        if (!found && !this.#over) return;
        this.#watchers.delete(look);
        if (found) resolve(found);
        else reject(new Error(`ended without "${event}": ${this.#stdout}${this.#stderr}`));
      };
      this.#watchers.add(look);
      look();
    });
  }

  get events(): JsonEvent[] {
    const lines = this.#stdout.slice(0, this.#stdout.lastIndexOf('\n') + 1).split('\n');
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as JsonEvent);
  }

  /** Peak resident memory so far, in bytes. */
  get peakRss(): number {
    this.#look();
    return this.#peakRss;
  }

  /** Kills the process if it still runs. */
  async kill(): Promise<void> {
    if (!this.#over) this.child.kill('SIGKILL');
    await this.ended;
  }

  #print(text: string): void {
    this.#stdout += text;
    for (const look of this.#watchers) look();
  }

  #look(): void {
    try {
      const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
      const kilobytes = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
      this.#peakRss = Math.max(this.#peakRss, kilobytes * 1024);
    } catch {
      // The process has just ended.
    }
  }

  #ending(exit: Ending['exit']): Ending {
    const { events } = this;
    const code = events.findLast(({ event }) => event === 'error')?.code;
    return { exit, stdout: this.#stdout, stderr: this.#stderr, events, code, peakRss: this.#peakRss };
  }
}

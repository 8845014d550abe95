// SPDX-License-Identifier: MPL-2.0
import type { ChildProcess } from 'node:child_process';

/** One line of `--json`. */
export interface JsonEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** How a process ended: its exit code, or the signal that ended it. */
export type Exit = number | NodeJS.Signals;

/** Longer than any wait on a busy machine, so it ends only tests that hang. */
const UNTIL_TIMEOUT_MS = 240_000;

/** A process under test, its output and its events. */
export class Running {
  readonly child: ChildProcess;
  readonly started = performance.now();
  /** Resolves when the process has ended and all its output has arrived. */
  readonly ended: Promise<Exit>;
  stdout = '';
  stderr = '';
  readonly #events: JsonEvent[] = [];
  readonly #watchers = new Set<() => void>();
  #unparsed = '';
  #exit: Exit | undefined;

  /** @param json  every line of standard output is an event */
  constructor(child: ChildProcess, json: boolean) {
    this.child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      if (json) this.#parse(text);
      this.#changed();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#changed();
    });
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        this.#exit = code ?? (signal as NodeJS.Signals);
        resolve(this.#exit);
        this.#changed();
      });
    });
    this.ended.catch(() => {});
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** All events so far. `progress` is left out by default, since the number of these events depends on time. */
  events({ progress = false } = {}): JsonEvent[] {
    return this.#events.filter(({ event }) => progress || event !== 'progress');
  }

  /** The first event of that name for which `matches` holds, past or future. Rejects if the process ends without it. */
  until(event: string, matches: (event: JsonEvent) => boolean = () => true): Promise<JsonEvent> {
    return this.#watch(`the event "${event}"`, () =>
      this.#events.find((each) => each.event === event && matches(each)),
    );
  }

  /** The first match in standard output followed by standard error. */
  shows(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#watch(`${pattern}`, () => pattern.exec(this.stdout + this.stderr) ?? undefined);
  }

  /** Sends a signal to this process only. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    if (this.#exit === undefined) this.child.kill(signal);
  }

  #watch<T>(what: string, find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => {
        this.#watchers.delete(look);
        clearTimeout(timer);
        how();
      };
      const look = () => {
        const found = find();
        if (found !== undefined) settle(() => resolve(found));
        else if (this.#exit !== undefined) settle(() => reject(this.#missed(what, `it ended with ${this.#exit}`)));
      };
      const timer = setTimeout(
        () => settle(() => reject(this.#missed(what, `${UNTIL_TIMEOUT_MS} ms have passed`))),
        UNTIL_TIMEOUT_MS,
      );
      this.#watchers.add(look);
      look();
    });
  }

  #missed(what: string, why: string): Error {
    const command = this.child.spawnargs.join(' ');
    const printed = `stdout: ${this.stdout.slice(-2000)}\nstderr: ${this.stderr.slice(-2000)}`;
    return new Error(`${command}\nnever showed ${what}: ${why}\n${printed}`);
  }

  #changed(): void {
    for (const watch of [...this.#watchers]) watch();
  }

  #parse(text: string): void {
    const lines = (this.#unparsed + text).split('\n');
    this.#unparsed = lines.pop() ?? '';
    for (const line of lines) this.#events.push(JSON.parse(line) as JsonEvent);
  }
}

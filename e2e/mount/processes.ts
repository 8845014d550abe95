// SPDX-License-Identifier: MPL-2.0
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const AGAIN_MS = 50;

interface Process {
  pid: number;
  name: string;
  state: string;
  parent: number;
}

function processes(): Process[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      // proc_pid_stat(5): the name is in parentheses, and may contain some itself.
      const [, name = '', state = '', parent = ''] =
        /^\d+ \((.*)\) (\S) (\d+)/s.exec(readFileSync(`/proc/${entry}/stat`, 'utf8')) ?? [];
      return [{ pid: Number(entry), name, state, parent: Number(parent) }];
    } catch {
      return []; // the process has ended
    }
  });
}

/** The process id of the mount host of a daemon. */
export function mountHostOf(daemon: number): number | undefined {
  return processes().find(({ parent, name, state }) => parent === daemon && name === 'keibidrop-mount' && state !== 'Z')
    ?.pid;
}

/** Whether the kernel has a mount at that folder. */
export function isMounted(folder: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${folder} `);
}

/** Watches for processes that cannot be killed: those in state D in several samples in a row. */
export class StuckWatch {
  /** The longest time that one process was seen in state D without a pause. */
  longestMs = 0;
  readonly #since = new Map<number, number>();
  #over = false;
  readonly #done: Promise<void>;

  readonly #of: () => number[];

  /** @param of  returns the processes to watch now */
  constructor(of: () => number[]) {
    this.#of = of;
    this.#done = this.#watch();
  }

  /** @returns  the longest time that one process was seen in state D */
  async end(): Promise<number> {
    this.#over = true;
    await this.#done;
    return this.longestMs;
  }

  async #watch(): Promise<void> {
    while (!this.#over) {
      const now = performance.now();
      const mine = new Set(this.#of());
      const stuck = processes().filter(({ pid, state }) => state === 'D' && mine.has(pid));
      for (const pid of this.#since.keys()) if (!stuck.some((one) => one.pid === pid)) this.#since.delete(pid);
      for (const { pid } of stuck) {
        const since = this.#since.get(pid) ?? now;
        this.#since.set(pid, since);
        this.longestMs = Math.max(this.longestMs, now - since);
      }
      await sleep(AGAIN_MS);
    }
  }
}

// SPDX-License-Identifier: MPL-2.0
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Both versions of control groups: their root, how to set a memory limit, and where the peak is read. */
const VERSIONS = [
  { root: '/sys/fs/cgroup', mark: 'cgroup.controllers', limit: 'memory.max', peak: 'memory.peak' },
  {
    root: '/sys/fs/cgroup/memory',
    mark: 'memory.limit_in_bytes',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
  },
];

let counter = 0;

/** A control group that limits the memory of all its processes together, page cache included. Linux, as root. */
export class MemoryGroup {
  readonly #path: string;
  readonly #peak: string;

  private constructor(path: string, peak: string) {
    this.#path = path;
    this.#peak = peak;
  }

  /** Undefined where control groups are not available. */
  static tryOpen(bytes: number): MemoryGroup | undefined {
    const version = VERSIONS.find(({ root, mark }) => existsSync(join(root, mark)));
    if (version === undefined) return undefined;
    const path = join(version.root, `keibidrop-e2e-${process.pid}-${counter++}`);
    try {
      mkdirSync(path);
    } catch {
      return undefined;
    }
    try {
      writeFileSync(join(path, version.limit), `${bytes}`);
    } catch {
      rmdirSync(path);
      return undefined;
    }
    return new MemoryGroup(path, join(path, version.peak));
  }

  /** A command that runs another in this group. */
  get command(): string[] {
    return ['sh', '-c', `echo $$ > '${join(this.#path, 'cgroup.procs')}' && exec "$@"`, 'sh'];
  }

  /** The highest memory use of its processes, in bytes. */
  get peak(): number {
    return Number(readFileSync(this.#peak, 'utf8'));
  }

  /** Call it after the last process has ended. */
  close(): void {
    rmdirSync(this.#path);
  }
}

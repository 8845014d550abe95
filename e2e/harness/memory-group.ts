// SPDX-License-Identifier: MPL-2.0
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Both versions of control groups: where they are, how a memory limit is set, what tells the most that was used. */
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

/** A control group whose processes share so much memory, page cache included; one that needs more is killed. Linux, as root. */
export class MemoryGroup {
  readonly #path: string;
  readonly #peak: string;

  private constructor(path: string, peak: string) {
    this.#path = path;
    this.#peak = peak;
  }

  /** Undefined where no such group can be made. */
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

  /** The most memory its processes have used at once. */
  get peak(): number {
    return Number(readFileSync(this.#peak, 'utf8'));
  }

  /** After its last process has ended. */
  close(): void {
    rmdirSync(this.#path);
  }
}

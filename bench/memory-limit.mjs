// SPDX-License-Identifier: MPL-2.0

// Limits the memory of several processes together, page cache included: a cgroup, version 2 or 1, made by root.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';

const VERSIONS = [
  { kind: 'cgroup v2', root: '/sys/fs/cgroup', limit: 'memory.max', swap: 'memory.swap.max', peak: 'memory.peak' },
  {
    kind: 'cgroup v1',
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
  },
];

/** Undefined where control groups are not available. A command joins by `prefix`; call close() once all have ended. */
export function openMemoryLimit(bytes) {
  for (const { kind, root, limit, swap, peak } of VERSIONS) {
    const group = `${root}/keibidrop-bench-${process.pid}`;
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    // With version 1 mounted, the root of version 2 is a plain folder; version 2 may lack the memory controller.
    if (!existsSync(`${group}/${limit}`)) {
      rmdirSync(group);
      continue;
    }
    try {
      writeFileSync(`${group}/${limit}`, `${bytes}`);
      if (swap) writeFileSync(`${group}/${swap}`, '0');
      return {
        kind,
        prefix: ['sh', '-c', `echo $$ > '${group}/cgroup.procs' && exec "$@"`, 'sh'],
        peakBytes: () => Number(readFileSync(`${group}/${peak}`, 'utf8')),
        close: () => rmdirSync(group),
      };
    } catch {
      rmdirSync(group);
    }
  }
  return undefined;
}

// SPDX-License-Identifier: MPL-2.0

// Resources that a running process uses, from /proc.
import { readdirSync, readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;

/** The pid of a command that runs under measure. */
export function pidOf({ child }) {
  const [pid] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
  if (!pid) throw new Error('the command has ended');
  return Number(pid);
}

/** Resident bytes, threads and open descriptors of a process now. */
export function takenBy(pid) {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return {
    rss: Number(pages) * PAGE_BYTES,
    threads: readdirSync(`/proc/${pid}/task`).length,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Samples the resident bytes of a command under measure every `everyMs` until it ends. */
export function watchResident(process, everyMs = 100) {
  const samples = [];
  const timer = setInterval(() => {
    try {
      samples.push(takenBy(pidOf(process)).rss);
    } catch {
      // Not started yet, or already ended.
    }
  }, everyMs);
  process.child.once('exit', () => clearInterval(timer));
  return samples;
}

/** The medians of the first, the middle and the last third. */
export function thirds(samples) {
  return [0, 1, 2].map((third) => {
    const part = samples.slice((third * samples.length) / 3, ((third + 1) * samples.length) / 3);
    return part.sort((a, b) => a - b)[part.length >> 1] ?? 0;
  });
}

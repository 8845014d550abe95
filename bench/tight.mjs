// SPDX-License-Identifier: MPL-2.0

// tight: the transfer of P1 with both processes on one core, and with both and their page cache in 512 MiB.
import { rm } from 'node:fs/promises';
import { openMemoryLimit } from './memory-limit.mjs';
import { transferOnce } from './peers.mjs';
import { assertEqual } from './workspace.mjs';

const BYTES = 2 ** 30;
const MEMORY_BYTES = 512 * 2 ** 20;
const FREE = 'KeibiDrop';
const ONE_CORE = 'KeibiDrop, both processes on one core (taskset -c 0)';

export async function prepare(workspace) {
  const source = await workspace.randomFile('movie.mkv', workspace.scaled(BYTES));
  const limit = openMemoryLimit(MEMORY_BYTES);
  const cases = [
    { name: FREE, run: () => send(workspace, source) },
    { name: ONE_CORE, run: () => send(workspace, source, ['taskset', '-c', '0']) },
  ];
  if (limit) {
    const name = `KeibiDrop, both processes and their page cache in 512 MiB (${limit.kind})`;
    cases.push({ name, run: () => send(workspace, source, limit.prefix) });
  }
  return {
    title: '1 GiB file on loopback with few resources, session up to done',
    runs: 3,
    cases,
    bars: () => [
      ...cases.map(({ name }) => ({ text: `${name}: finished, equal`, met: true })), // any failure has already ended the row
      limit
        ? {
            text: `the 512 MiB held ${(limit.peakBytes() / 2 ** 20).toFixed(0)} MiB at most`,
            met: limit.peakBytes() <= MEMORY_BYTES,
          }
        : {
            text: 'not run in 512 MiB: that needs root and a cgroup file system with the memory controller',
            met: false,
          },
    ],
    close: async () => {
      limit?.close();
      await rm(source);
    },
  };
}

async function send(workspace, source, prefix) {
  const out = workspace.path('in');
  const options = { send: { prefix }, receive: { prefix } };
  const { done, cpu, rss } = await transferOnce(workspace, source, out, options);
  await assertEqual(source, `${out}/movie.mkv`);
  await rm(out, { recursive: true });
  return { seconds: done.seconds, cpu, rss };
}

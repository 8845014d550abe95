// SPDX-License-Identifier: MPL-2.0

// The limit of the machine, with only the copies and the cipher of a transfer: ceiling.cc.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { assertEqual, ceiling } from './workspace.mjs';

const run = promisify(execFile);

/** File to file. */
export function ceilingCase(workspace, name, source, suite = 'aes-256-gcm') {
  const target = workspace.path('ceiling');
  return {
    name,
    async run() {
      const sample = await measured(source, target, suite);
      await assertEqual(source, target);
      await rm(target);
      return sample;
    },
  };
}

/** Memory to memory. The program itself checks that every unit arrives in order, and its tag if it is sealed. */
export function memoryCase(bytes, suite) {
  return { run: () => measured('--memory', String(bytes), suite) };
}

async function measured(...args) {
  const { stdout } = await run(ceiling, args);
  const { seconds, cpu_send: sender, cpu_receive: receiver } = JSON.parse(stdout);
  return { seconds, cpu: sender + receiver };
}

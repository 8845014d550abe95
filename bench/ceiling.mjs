// SPDX-License-Identifier: MPL-2.0

// What the machine can do with the same copies and the same cipher, and nothing else: ceiling.cc.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { assertEqual, ceiling } from './workspace.mjs';

const run = promisify(execFile);

export function ceilingCase(workspace, name, source) {
  const target = workspace.path('ceiling');
  return {
    name,
    async run() {
      const { stdout } = await run(ceiling, [source, target]);
      await assertEqual(source, target);
      await rm(target);
      const { seconds, cpu_send: sender, cpu_receive: receiver } = JSON.parse(stdout);
      return { seconds, cpu: sender + receiver };
    },
  };
}

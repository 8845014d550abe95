// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { whyNotMountable } from '../../packages/mount/src/index.ts';

const run = promisify(execFile);
const unmountable = await whyNotMountable();
const program = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url));

async function smoke(...rows: string[]): Promise<string> {
  const args = [program, ...rows, '--runs', '1', '--scale', '0.01'];
  return (await run(process.execPath, args, { timeout: 280_000 })).stdout;
}

describe('npm run bench', () => {
  it('measures every row, compares the received files, and says which bars are met', async () => {
    const stdout = await smoke('p1', 'p2', 'p3', 'p4', 'p8');
    for (const row of ['P1', 'P2', 'P3', 'P4', 'P8']) expect(stdout).toContain(`### ${row}: `);
    expect(stdout.match(/^\| KeibiDrop/gm)?.length).toBeGreaterThanOrEqual(9);
    expect(stdout.match(/^- (met|NOT met|not measured): /gm)).toHaveLength(11);
    for (const name of ['scp', 'rsync', 'magic-wormhole']) {
      const ranOrMissing = stdout.match(new RegExp(`^(\\| ${name}[^|]* \\| 1 \\||- ${name}.*: not installed )`, 'gm'));
      expect(ranOrMissing, name).toHaveLength(5);
    }
  });

  it('prints the matrix (layers by sizes) and the control plane', async () => {
    const stdout = await smoke('matrix');
    expect(stdout).toContain('| layer | 1 MB | 10 MB | 100 MB | 1 GB |');
    expect(stdout.match(/^\| (raw TCP|\+|KeibiDrop|cp)[^|]*(\| \d+( \(.* ms\))? ){4}\|$/gm)).toHaveLength(9);
    expect(stdout.match(/^\| (typed to session up|a text, typed to both exited) \| \d+ \| \d+ \|$/gm)).toHaveLength(2);
  });

  it.skipIf(unmountable !== undefined)('makes small calls through a mount and on the local disk', async () => {
    const stdout = await smoke('mount');
    expect(stdout).toContain('### MOUNT: ');
    const done = stdout.match(/^\| (\d+ |random |git )[^|]*( \| \d+(\.\d+)? (\/s|s)){2,4} \|$/gm);
    expect(done).toHaveLength(11);
  });

  it('refuses an unknown row', async () => {
    await expect(run(process.execPath, [program, 'p99'])).rejects.toMatchObject({ code: 2 });
  });
});

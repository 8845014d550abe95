// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url));

describe('npm run bench', () => {
  it('measures every row, compares what came, and says which bars are met', async () => {
    const { stdout } = await run(process.execPath, [program, '--runs', '1', '--scale', '0.01'], { timeout: 110_000 });
    for (const row of ['P1', 'P2', 'P3', 'P4']) expect(stdout).toContain(`### ${row}: `);
    expect(stdout.match(/^\| KeibiDrop/gm)?.length).toBeGreaterThanOrEqual(7);
    expect(stdout.match(/^- (NOT )?met: /gm)).toHaveLength(7);
  });

  it('refuses a row that there is not', async () => {
    await expect(run(process.execPath, [program, 'p99'])).rejects.toMatchObject({ code: 2 });
  });
});

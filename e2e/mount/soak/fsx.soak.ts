// SPDX-License-Identifier: MPL-2.0
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MountedShare } from '../mounted-share.ts';
import { needs } from './needs.ts';

let share: MountedShare;
beforeAll(async () => {
  share = await MountedShare.open();
});
afterAll(() => share?.close());

const SEEDS = [1, 2, 3, 20261122];

describe('fsx, reads, writes, truncates and maps of one file', () => {
  for (const seed of SEEDS) {
    it(`3000 operations on 256 KiB, seed ${seed}`, async (context) => {
      const fsx = needs('fsx', context);
      const done = await share.shell(`cd bob/far && ${fsx} -q -S ${seed} -N 3000 -P ../.. small 2>&1`, 120);
      expect(done).not.toMatch(/failed|hung/);
      expect(await share.shell('sync bob/far/small && cmp bob/far/small anna/work/small')).toBe('');
    });
  }

  it('5000 operations on 1 MiB', async (context) => {
    const fsx = needs('fsx', context);
    const config = 'flen = 1048576\n[opsize]\nmax = 131072\n';
    await share.shell(`printf '${config}' > fsx.toml`);
    const done = await share.shell(`cd bob/far && ${fsx} -q -S 7 -f ../../fsx.toml -N 5000 -P ../.. large 2>&1`, 240);
    expect(done).not.toMatch(/failed|hung/);
    expect(await share.shell('sync bob/far/large && cmp bob/far/large anna/work/large')).toBe('');
  });
});

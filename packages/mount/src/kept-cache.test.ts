// SPDX-License-Identifier: MPL-2.0
import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MountedFolder } from '../test/mounted-folder.ts';
import { shell } from '../test/outside.ts';
import { backendOf } from './usable-backend.ts';

const reason = await backendOf('native').whyNot();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

describe.skipIf(reason !== undefined)('a mount with the cache of an earlier one', () => {
  const here = new MountedFolder('native');
  const sum = (path: string) => shell('md5sum < "$1"', path);

  it('reuses cached files of the same version that are whole', async () => {
    for (const name of ['same', 'other', 'torn']) writeFileSync(here.there(name), Buffer.alloc(200_000, name));
    writeFileSync(here.there('before'), 'unread');
    const shown = await here.show();
    await shell('cd "$1" && cat same other torn', here.at());
    await shown.unmount();
    const map = (await shell('cd "$1" && grep -l torn *.data', here.cache)).replace('.data', '.map');
    truncateSync(join(here.cache, map), 70);
    const left = join(here.cache, `${'0123456789abcdef'.repeat(2)}.data`);
    writeFileSync(left, 'of a host that was killed');
    writeFileSync(here.there('other'), Buffer.alloc(200_000, 'changed'));
    const { wants } = here.source;
    await here.show();
    expect(existsSync(left)).toBe(false);
    expect(await sum(here.at('same'))).toBe(await sum(here.there('same')));
    expect(here.source.wants).toBe(wants);
    for (const name of ['other', 'torn', 'before']) expect(await sum(here.at(name))).toBe(await sum(here.there(name)));
    expect(here.source.wants).toBeGreaterThanOrEqual(wants + 3);
  });

  it('evicts the least recently used files', async () => {
    for (let i = 0; i < 6; i++) writeFileSync(here.there(`${i}`), Buffer.alloc(2 ** 20, `${i}`));
    const shown = await here.show({ cacheBytes: 2 ** 30 });
    for (const name of '543210') await shell('cat "$1" > /dev/null', here.at(name));
    await shell('cat "$1" > /dev/null', here.at('5'));
    await shown.unmount();
    await here.show({ cacheBytes: 3.5 * 2 ** 20 });
    const { wants } = here.source;
    await shell('cd "$1" && cat 5 0 1 > /dev/null', here.at());
    expect(here.source.wants).toBe(wants);
    expect(Number(await shell('du -sk "$1" | cut -f 1', here.cache))).toBeLessThan(3600);
  });

  it('is refused while another uses it', async () => {
    const first = await here.show();
    await expect(here.show({ folder: join(here.folder, 'second') })).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringContaining('another mount'),
    });
    expect(await shell('ls "$1"', here.at())).toBe('');
    await first.unmount();
  });
});

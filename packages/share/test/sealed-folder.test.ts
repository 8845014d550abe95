// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SealedFolder } from '../src/sealed-folder.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-sealed-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('a sealed folder', () => {
  it('refuses a file of a later version, and leaves it as it is', async () => {
    const place = { folder: join(directory, 'known'), keyFile: join(directory, 'key') };
    const files = new SealedFolder(place, 1024);
    await files.write('a', Uint8Array.of(1, 2, 3));
    expect(await files.read('a')).toEqual(Uint8Array.of(1, 2, 3));
    const path = join(place.folder, 'a');
    const later = await readFile(path);
    later[4] = 2;
    await writeFile(path, later);
    await expect(files.read('a')).rejects.toMatchObject({ code: 'FILE_NEWER', message: expect.stringContaining(path) });
    expect(await readFile(path)).toEqual(later);
    expect(await readdir(place.folder)).toEqual(['a']);
  });
});

// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PAGE_SECRET_BYTES } from '../src/page/page-keys.ts';
import { keepPagePlace, readPagePlace } from '../src/page/page-place.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-page-'));
  file = join(directory, 'page.json');
});
afterEach(() => rm(directory, { recursive: true }));

describe('the stored place of the page', () => {
  it('is read as it was written', async () => {
    const place = { port: 26_431, secret: new Uint8Array(PAGE_SECRET_BYTES).fill(7) };
    await keepPagePlace(file, place);
    expect(await readPagePlace(file)).toEqual({ port: place.port, secret: Buffer.from(place.secret) });
  });

  it('is refused if a later version wrote it, and stays as it is', async () => {
    const later = '{"v":2,"port":26431}';
    await writeFile(file, later, { mode: 0o600 });
    await expect(readPagePlace(file)).rejects.toMatchObject({
      code: 'FILE_NEWER',
      message: expect.stringContaining(file),
    });
    expect(await readFile(file, 'utf8')).toBe(later);
  });

  it.each(['', '{', 'null', '7', '[]', '{"v":1,"port":0}', '{"v":1,"port":26431,"secret":"AA"}'])(
    'is undefined for the malformed file %j',
    async (text) => {
      await writeFile(file, text, { mode: 0o600 });
      expect(await readPagePlace(file)).toBeUndefined();
    },
  );
});

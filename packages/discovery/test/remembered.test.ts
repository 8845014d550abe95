// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRememberedTransport, rememberAddress } from '../src/index.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const { signal } = new AbortController();

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keibidrop-remembered-'));
  file = join(dir, 'config', 'addresses.json');
});
afterEach(() => rm(dir, { recursive: true }));

async function found(): Promise<string[]> {
  const places: string[] = [];
  for await (const { transport, host, port } of createRememberedTransport(file).find('ab'.repeat(32), { signal })) {
    places.push(`${transport} ${host} ${port}`);
  }
  return places;
}

describe('remembered addresses', () => {
  it('are found newest first, at most eight, without duplicates', async () => {
    for (let host = 1; host <= 9; host++) await rememberAddress(file, { host: `10.0.0.${host}`, port: 26_431 });
    await rememberAddress(file, { host: '10.0.0.5', port: 26_431 });
    expect(await found()).toEqual([5, 9, 8, 7, 6, 4, 3, 2].map((host) => `direct 10.0.0.${host} 26431`));
  });

  it('are in a file that only this user can read', async () => {
    await rememberAddress(file, { host: '10.0.0.1', port: 1 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(dir, 'config'))).toEqual(['addresses.json']);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      v: 1,
      addresses: [{ host: '10.0.0.1', port: 1, at: expect.any(Number) }],
    });
  });

  it('are forgotten after 30 days, and invalid entries are ignored', async () => {
    await rememberAddress(file, { host: '10.0.0.1', port: 1 });
    const now = Date.now();
    const addresses = [
      { host: '10.0.0.1', port: 1, at: now - 31 * DAY_MS },
      { host: '10.0.0.2', port: 2, at: now - 29 * DAY_MS },
      { host: '10.0.0.3', port: 3, at: now + DAY_MS },
      { host: 'a b', port: 4, at: now },
      { host: '10.0.0.5', port: 0, at: now },
      null,
    ];
    await writeFile(file, JSON.stringify({ v: 1, addresses }));
    expect(await found()).toEqual(['direct 10.0.0.2 2']);
  });

  it.each(['', 'nonsense', '{"v":2,"addresses":[]}', '{"v":1}'])(
    'are empty for a file with the text %j',
    async (text) => {
      file = join(dir, 'addresses.json');
      await writeFile(file, text);
      expect(await found()).toEqual([]);
    },
  );

  it('of a later version stay as they are', async () => {
    file = join(dir, 'addresses.json');
    const later = '{"v":2,"addresses":["somehow different"]}';
    await writeFile(file, later);
    await rememberAddress(file, { host: '10.0.0.1', port: 1 });
    expect(await readFile(file, 'utf8')).toBe(later);
  });

  it('are empty, without an error, if the file cannot be written', async () => {
    await writeFile(join(dir, 'config'), 'a file');
    await rememberAddress(file, { host: '10.0.0.1', port: 1 });
    expect(await found()).toEqual([]);
  });
});

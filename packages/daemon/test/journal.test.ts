// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../src/journal.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-journal-'));
  file = join(directory, 'state', 'transfers.json');
});
afterEach(() => rm(directory, { recursive: true }));

const open = () => new Journal<string>(file, (entry) => typeof entry === 'string');

describe('the journal', () => {
  it('returns the last written state, from a file that only this user can read', async () => {
    expect(await open().read()).toEqual({});
    await open().write(() => ({ next: 3, entries: ['a', 'b'] }));
    expect(await open().read()).toEqual({ state: { next: 3, entries: ['a', 'b'] } });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('writes the newest of many states, each of which is on the disk once its write has resolved', async () => {
    const journal = open();
    let now = 0;
    let written = 0;
    const states = Array.from({ length: 50 }, (_, i) => {
      now = i + 1;
      return journal.write(() => {
        written++;
        return { next: now, entries: [] };
      });
    });
    await Promise.all(states);
    expect((await open().read()).state?.next).toBe(50);
    expect(written).toBeLessThanOrEqual(2);
    expect(await readdir(join(directory, 'state'))).toEqual(['transfers.json']);
  });

  it('keeps working after a failed write', async () => {
    const journal = open();
    await writeFile(join(directory, 'state'), 'in the way');
    await expect(journal.write(() => ({ next: 1, entries: [] }))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await rm(join(directory, 'state'));
    await journal.write(() => ({ next: 2, entries: [] }));
    expect((await open().read()).state?.next).toBe(2);
  });

  it('restores the valid entries, and keeps the file with the others', async () => {
    await open().write(() => ({ next: 1, entries: [] }));
    const text = '{"v":2,"next":3,"entries":[null,"a",{}]}';
    await writeFile(file, text);
    const { state, damaged = '' } = await open().read();
    expect(state).toEqual({ next: 3, entries: ['a'] });
    expect(await readFile(damaged, 'utf8')).toBe(text);
  });

  it('reads a journal of an earlier version, and writes it with the new keys', async () => {
    await open().write(() => ({ next: 1, entries: [] }));
    await writeFile(file, '{"v":1,"next":3,"transfers":["a","b"]}');
    const journal = open();
    const { state, damaged } = await journal.read();
    expect({ state, damaged }).toEqual({ state: { next: 3, entries: ['a', 'b'] } });
    await journal.write(() => ({ next: 4, entries: ['b'] }));
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ v: 2, next: 4, entries: ['b'] });
  });

  it('refuses a journal of a later version, and leaves it as it is', async () => {
    await open().write(() => ({ next: 1, entries: [] }));
    const text = '{"v":3,"next":1,"entries":[]}';
    await writeFile(file, text);
    const journal = open();
    const newer = { code: 'FILE_NEWER', message: expect.stringContaining(file) };
    await expect(journal.read()).rejects.toMatchObject(newer);
    await expect(journal.write(() => ({ next: 1, entries: [] }))).rejects.toMatchObject(newer);
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(await readdir(join(directory, 'state'))).toEqual(['transfers.json']);
  });

  it.each(['', '{', '[]', '{"v":2,"next":"1","entries":[]}', '{"v":2,"next":1}'])(
    'keeps a malformed file under another name: %j',
    async (text) => {
      await open().write(() => ({ next: 1, entries: [] }));
      await writeFile(file, text);
      const { state, damaged = '' } = await open().read();
      expect(state).toBeUndefined();
      expect(await readFile(damaged, 'utf8')).toBe(text);
      expect(await open().read()).toEqual({});
    },
  );
});

// SPDX-License-Identifier: MPL-2.0
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { History, type HistoryEntry } from '../src/history/history.ts';
import { recording } from '../src/history/recording.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'keibidrop-history-')), 'state');
  file = join(directory, 'history.jsonl');
});
afterEach(() => rm(join(directory, '..'), { recursive: true }));

const DAY_MS = 86_400_000;

function entry(what: string, daysAgo = 0): HistoryEntry {
  const time = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  const counts = { files: 1, bytes: 7, seconds: 0.1, bytesPerSecond: 70 };
  return {
    time,
    kind: 'send',
    what,
    with: 'bob',
    contact: false,
    place: '/home',
    path: 'lan',
    ...counts,
    result: 'OK',
  };
}

const open = (limits: { entries?: number; days?: number } = {}) =>
  new History(directory, async () => ({ entries: 100, days: 30, ...limits }));
const whats = (entries: readonly HistoryEntry[]) => entries.map(({ what }) => what);

describe('the history', () => {
  it('lists the newest first, from a file that only this user can read', async () => {
    const history = open();
    for (const what of ['a', 'b', 'c']) await history.add(entry(what));
    expect(whats(await history.list(2))).toEqual(['c', 'b']);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await open().list(9)).toEqual(await history.list(9));
  });

  it('with no entries allowed removes earlier ones, when it is read or added to', async () => {
    for (const look of [(none: History) => none.list(9), (none: History) => none.add(entry('b'))]) {
      await open().add(entry('a'));
      await look(open({ entries: 0 }));
      await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
      expect(await open().list(9)).toEqual([]);
    }
  });

  it('that cannot be written is a warning before the end of the run', async () => {
    await mkdir(file, { recursive: true });
    const events: string[] = [];
    const counts = { files: 1, bytes: 1, skipped: 0, resumedBytes: 0, seconds: 0 };
    const options = { kind: 'send', place: '/', stateDir: directory, limits: { entries: 9, days: 9 } } as const;
    await recording({ ...options, onEvent: ({ type }) => void events.push(type) }, async (onEvent) => {
      onEvent({ type: 'waiting', host: '127.0.0.1', port: 1 });
      onEvent({ type: 'done', ...counts, failed: 0 });
      return { ...counts, failed: [] };
    });
    expect(events).toEqual(['waiting', 'warning', 'done']);
  });

  it('survives a torn last line without losing other entries', async () => {
    await open().add(entry('a'));
    await open().add(entry('torn'));
    await truncate(file, (await stat(file)).size - 10);
    await open().add(entry('b'));
    expect(whats(await open().list(9))).toEqual(['b', 'a']);
    await appendFile(file, 'null\n{"time":"x"}\n[]\n');
    expect(whats(await open().list(9))).toEqual(['b', 'a']);
  });

  it('keeps no more than the limits of entries and days', async () => {
    const history = open({ entries: 10 });
    for (let i = 0; i < 25; i++) await history.add(entry(`${i}`));
    const { length } = (await readFile(file, 'utf8')).trim().split('\n');
    expect(length).toBeLessThanOrEqual(11);
    expect(whats(await history.list(3))).toEqual(['24', '23', '22']);
    await rm(file);
    await open().add(entry('old', 31));
    await open().add(entry('new'));
    expect(whats(await open().list(9))).toEqual(['new']);
    await open({ days: 10 }).add(entry('newest'));
    expect(await readFile(file, 'utf8')).not.toContain('old');
  });

  it('writes nothing if it must keep nothing', async () => {
    await open({ entries: 0 }).add(entry('a'));
    await expect(stat(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('takes concurrent entries of several writers, and clears all on request', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `${i}`);
    await Promise.all(names.map((what) => open({ entries: 1000 }).add(entry(what))));
    expect(whats(await open().list(100)).sort()).toEqual(names.sort());
    expect(await open().clear()).toBe(40);
    expect(await open().list(9)).toEqual([]);
  });
});

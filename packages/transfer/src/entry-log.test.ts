// SPDX-License-Identifier: MPL-2.0
import { type Entry, encodePage, TOP } from '@keibidrop/protocol';
import { describe, expect, it } from 'vitest';
import { EntryList } from './entry-list.ts';
import { EntryLog } from './entry-log.ts';

const ALL = { first: 0, limit: 1000, filter: '' };
const { signal } = new AbortController();

function entry(name: string, size: number, more: Partial<Entry> = {}): Entry {
  return { type: 'file', mode: 0o644, parent: TOP, mtimeNs: 0n, size, name, ...more };
}

function page(first: number, entries: Entry[]) {
  return { first, count: entries.length, bytes: encodePage(entries, first) };
}

const folder = (name: string) => entry(name, 0, { type: 'directory' });
/** A folder with a file, and three more files. */
const PAGES = [
  page(0, [folder('d'), entry('In', 10, { parent: 0 })]),
  page(2, [entry('a', 20), entry('b', 0), entry('c', 40)]),
];
const EVERYTHING = [Uint8Array.of(0b10), Uint8Array.of(0b101)];

function logged(...[keep = () => true, other]: Partial<ConstructorParameters<typeof EntryLog>>): EntryLog {
  const log = new EntryLog(keep, other);
  for (const each of PAGES) log.add(each);
  return log;
}

function answered(log: EntryLog, wanted = EVERYTHING): EntryLog {
  for (const [i, { first }] of PAGES.entries()) log.answer(first, wanted[i] as Uint8Array);
  log.walked();
  return log;
}

async function states(log: EntryLog): Promise<string> {
  const { entries } = await new EntryList(log).part(ALL, signal);
  return entries.map(({ state }) => state).join(' ');
}

describe('the log of transfer entries', () => {
  it('begins with the offered entries', async () => {
    const { total, entries } = await new EntryList(logged()).part(ALL, signal);
    expect(total).toBe(5);
    expect(entries.map(({ path, size, state }) => `${path} ${size} ${state}`)).toEqual(
      ['d 0', 'd/In 10', 'a 20', 'b 0', 'c 40'].map((text) => `${text} pending`),
    );
  });

  it.each<[string, { files: number; bytes: number }, string]>([
    ['nothing', { files: 1, bytes: 0 }, 'pending pending pending done pending'],
    ['a part of the first', { files: 1, bytes: 5 }, 'pending running pending done pending'],
    ['the first', { files: 2, bytes: 10 }, 'done done pending done pending'],
    ['the first, and a part of the next', { files: 2, bytes: 15 }, 'done done running done pending'],
    ['two of three', { files: 3, bytes: 30 }, 'done done done done pending'],
    ['all of three', { files: 4, bytes: 70 }, 'done done done done done'],
    ['more than there is', { files: 9, bytes: 900 }, 'done done done done done'],
  ])('marks entries of a sender by the count: %s', async (_what, progress, expected) => {
    const log = answered(logged());
    log.progress(progress);
    expect(await states(log)).toBe(expected);
  });

  it('does not count entries that failed or were left unchanged', async () => {
    const log = answered(logged(), [Uint8Array.of(0b10), Uint8Array.of(0b001)]);
    log.fail(1, 'TRANSFER_SOURCE_CHANGED');
    log.progress({ files: 2, bytes: 45 });
    const { entries } = await new EntryList(log).part(ALL, signal);
    expect(entries.map(({ state }) => state)).toEqual(['done', 'failed', 'running', 'done', 'skipped']);
    expect(entries[1]).toMatchObject({ code: 'TRANSFER_SOURCE_CHANGED', bytes: 0 });
    expect(entries[2]).toMatchObject({ bytes: 5 });
    log.finish();
    expect(await states(log)).toBe('done failed done done skipped');
  });

  it('marks entries of a receiver one by one, in any order', async () => {
    const log = answered(logged());
    log.place(4);
    log.progress({ files: 2, bytes: 43 });
    expect(await states(log)).toBe('pending running pending done done');
    log.end();
    expect(await states(log)).toBe('pending pending pending done done');
  });

  it('carries equal entries over to the next session with the same peer', async () => {
    const before = answered(logged());
    before.place(1);
    before.progress({ files: 2, bytes: 10 });
    before.end();
    const again = logged(undefined, { log: before, samePeer: true });
    expect(again.pages[0]?.bytes).toBe(before.pages[0]?.bytes);
    answered(again, [Uint8Array.of(0), Uint8Array.of(0b101)]);
    expect(await states(again)).toBe('done done pending done pending');
    const other = new EntryLog(() => true, { log: before, samePeer: true });
    other.add(page(0, [folder('d'), entry('In', 11, { parent: 0 })]));
    other.answer(0, Uint8Array.of(0));
    other.walked();
    expect(await states(other)).toBe('done skipped');
  });

  it('shares pages between peers without sharing states', async () => {
    const before = answered(logged());
    before.finish();
    const kept: number[] = [];
    const other = logged((bytes) => kept.push(bytes) > 0, { log: before, samePeer: false });
    expect(Math.max(...kept)).toBeLessThan(8);
    expect(await states(other)).toBe('pending pending pending pending pending');
  });

  it('is forgotten when there is no room', async () => {
    let room = 1;
    const log = logged(() => room-- > 0);
    log.answer(0, Uint8Array.of(1));
    log.place(1);
    log.fail(3, 'TRANSFER_DISK_FULL');
    expect([log.forgotten, log.entries]).toEqual([true, 0]);
    expect(await new EntryList(log).part(ALL, signal)).toEqual({ total: 0, entries: [] });
  });
});

describe('a long list', () => {
  const COUNT = 100_000;
  const long = new EntryLog(() => true);
  for (let first = 0; first < COUNT; first += 1000) {
    const entries = Array.from({ length: 1000 }, (_, i) =>
      first + i === 0 ? folder('top') : entry(`file-${first + i}`, 1, { parent: 0 }),
    );
    long.add(page(first, entries));
    long.answer(first, new Uint8Array(125).fill(255));
  }
  long.walked();
  long.progress({ files: 70_000, bytes: 70_000 });
  const list = new EntryList(long);

  it.each<[string, Partial<Parameters<EntryList['part']>[0]>, number, string]>([
    ['from its middle', { first: 50_000, limit: 1 }, COUNT, 'top/file-50000'],
    ['to its end', { first: COUNT - 1 }, COUNT, 'top/file-99999'],
    ['by a part of a name', { filter: 'FILE-9999', first: 10 }, 11, 'top/file-99999'],
    ['by a folder', { filter: 'top/', first: 5 }, COUNT - 1, 'top/file-6'],
    ['by a state', { state: 'pending', first: 1 }, 30_000, 'top/file-70001'],
    ['by a folder that is not done', { state: 'pending' }, 30_000, 'top'],
    ['by both', { state: 'done', filter: '-69' }, 1111, 'top/file-69'],
  ])('is read %s', async (_what, query, total, path) => {
    const part = await list.part({ ...ALL, ...query }, signal);
    expect([part.total, part.entries[0]?.path]).toEqual([total, path]);
  });

  it('ends a search on abort', async () => {
    const gone = new AbortController();
    const asked = list.part({ ...ALL, filter: 'nothing' }, gone.signal);
    gone.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
  });
});

// SPDX-License-Identifier: MPL-2.0
import type { HistoryEntryView } from '@keibidrop/daemon/local';
import { describe, expect, it } from 'vitest';
import { inDays, matching, pathToSendAgain } from './history-list.ts';

function entry(fields: Partial<HistoryEntryView>): HistoryEntryView {
  const time = new Date(2026, 10, 22, 12).toISOString();
  return { time, kind: 'send', what: 'photos', with: 'Ann', place: '/home/me', ...fields } as HistoryEntryView;
}

describe('matching', () => {
  const all = [entry({}), entry({ kind: 'receive', what: 'Straße.txt', with: 'Bob', place: '/home/me/Inbox' })];

  it.each([
    ['all', '', 2],
    ['all', 'PHOTOS ann', 1],
    ['all', 'photos bob', 0],
    ['all', 'inbox', 1],
    ['receive', 'straße', 1],
    ['send', 'straße', 0],
  ] as const)('%s of “%s” are %i', (kind, search, count) => {
    expect(matching(all, { kind, search })).toHaveLength(count);
  });
});

it('puts entries into days without changing their order', () => {
  const at = (day: number, hour: number) =>
    entry({ time: new Date(2026, 10, day, hour).toISOString(), what: `${day} ${hour}` });
  const days = inDays([at(22, 23), at(22, 0), at(21, 23), at(20, 1)]);
  expect(days.map(({ entries }) => entries.map(({ what }) => what))).toEqual([['22 23', '22 0'], ['21 23'], ['20 1']]);
});

describe('pathToSendAgain', () => {
  it.each<[Partial<HistoryEntryView>, string | undefined]>([
    [{}, '/home/me/photos'],
    [{ place: '/' }, '/photos'],
    [{ place: 'C:\\Users\\me' }, 'C:\\Users\\me\\photos'],
    [{ what: 'a.txt, b.txt' }, undefined],
    [{ what: 'a.txt, b.txt, c.txt and 4 more' }, undefined],
    [{ what: 'text' }, undefined],
    [{ what: '' }, undefined],
    [{ kind: 'receive' }, undefined],
    [{ place: '' }, undefined],
  ])('of %o is %s', (fields, path) => {
    expect(pathToSendAgain(entry(fields))).toBe(path);
  });
});

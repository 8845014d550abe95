// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { inListOrder, partsOf, type ShareEntryView, wayTo } from './share-place.ts';

it('splits a place into share and names', () => {
  expect(partsOf('photos')).toEqual({ share: 'photos', names: [] });
  expect(partsOf('photos/2026/May/')).toEqual({ share: 'photos', names: ['2026', 'May'] });
});

it('names every folder on the way', () => {
  expect(wayTo('photos/2026/May')).toEqual([
    { name: 'photos', place: 'photos' },
    { name: '2026', place: 'photos/2026' },
    { name: 'May', place: 'photos/2026/May' },
  ]);
});

it('lists folders first, and sorts numbers by value', () => {
  const entry = (type: string, name: string) => ({ type, name }) as ShareEntryView;
  const entries = [entry('file', 'a 10'), entry('symlink', 'a 2'), entry('directory', 'z'), entry('directory', 'ä')];
  expect(inListOrder(entries, 'de').map(({ name }) => name)).toEqual(['ä', 'z', 'a 2', 'a 10']);
});

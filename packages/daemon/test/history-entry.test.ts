// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { expect, it } from 'vitest';
import { historyEntryOf, placeOf } from '../src/history/history-entry.ts';
import { TransferStats } from '../src/transfers/transfer-stats.ts';

const CONNECTED = { type: 'connected', path: 'lan', suite: 'aes-256-gcm', peer: 'bob', session: 1 } as const;
const COUNTS = { files: 3, bytes: 3000, skipped: 0, resumedBytes: 1000, seconds: 2 };
const run = { kind: 'receive', place: '/in', at: Date.UTC(2026, 0, 2) } as const;

it('an entry has the names, the peer, the size and the rate', () => {
  const figures = new TransferStats('');
  figures.take(CONNECTED);
  const names = ['a', 'b', 'c', 'd'];
  figures.take({ type: 'offer', files: 3, directories: 0, symlinks: 0, bytes: 3000, names, nameCount: 9 });
  expect(historyEntryOf({ ...run, figures, summary: { ...COUNTS, failed: [] } })).toEqual({
    time: '2026-01-02T00:00:00.000Z',
    kind: 'receive',
    what: 'a, b, c and 6 more',
    with: 'bob',
    contact: false,
    place: '/in',
    path: 'lan',
    files: 3,
    bytes: 3000,
    seconds: 2,
    bytesPerSecond: 1000,
    result: 'OK',
  });
});

it('a contact is named, whether it came or not', () => {
  const figures = new TransferStats('a');
  expect(historyEntryOf({ ...run, figures, contact: 'Ann' })).toMatchObject({ with: 'Ann', contact: true });
  figures.take({ ...CONNECTED, contact: 'Bob' });
  expect(historyEntryOf({ ...run, figures })).toMatchObject({ with: 'Bob', contact: true });
});

it('a failed transfer has the reason and its progress', () => {
  const figures = new TransferStats('a');
  const progress = { files: 1, bytes: 500, totalFiles: 3, totalBytes: 3000, totalsFinal: true, bytesPerSecond: 9 };
  figures.take(CONNECTED);
  figures.take({ type: 'progress', session: 1, ...progress });
  const entry = historyEntryOf({ ...run, figures, error: new KeibiError('SESSION_LOST') });
  expect(entry).toMatchObject({ result: 'SESSION_LOST', files: 1, bytes: 500, seconds: 0, bytesPerSecond: 0 });
});

it('a send has the folder of its first path', () => {
  expect([placeOf(['/a/b', '/c']), placeOf([])]).toEqual(['/a', '']);
});

// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../terminal/terminal-text.ts';
import { type Progress, type ProgressRow, progressLines } from './progress-line.ts';

const half: Progress = {
  files: 340,
  totalFiles: 1200,
  bytes: 1.2 * 1e9,
  totalBytes: 3.4 * 1e9,
  totalsFinal: true,
  bytesPerSecond: 112 * 1e6,
};

/** The line of one transfer. */
const lineOf = (progress: Progress, columns: number) => progressLines([{ progress, via: 'direct' }], columns)[0] ?? '';

describe('the line of one transfer', () => {
  it.each([
    [79, '340/1200 files  1.2/3.4 GB  35%  112 MB/s  ETA 0:20  direct'],
    [58, '340/1200 files  1.2/3.4 GB  35%  112 MB/s  ETA 0:20'],
    [40, '1.2/3.4 GB  112 MB/s  ETA 0:20'],
    [29, '35%  112 MB/s  ETA 0:20'],
    [19, '35%  112 MB/s'],
    [5, '35%'],
  ])('in %d columns is: %s', (columns, text) => expect(lineOf(half, columns)).toBe(text));

  it('fits any width', () => {
    const huge = { ...half, files: 4e6, totalFiles: 4e6, bytes: 2 ** 52, totalBytes: 2 ** 53, bytesPerSecond: 1 };
    for (const progress of [half, huge, { ...huge, totalsFinal: false }, { ...huge, bytes: 0, totalBytes: 0 }]) {
      for (let columns = 0; columns <= 200; columns++) {
        expect(lineOf(progress, columns).length).toBeLessThanOrEqual(columns);
        if (columns >= 20) expect(lineOf(progress, columns)).not.toBe('');
      }
    }
  });

  it('shows no ETA while the totals grow', () => {
    const walking = { ...half, totalsFinal: false };
    expect(lineOf(walking, 79)).toBe('340/1200+ files  1.2/3.4 GB+  112 MB/s  direct');
  });

  it('shows no ETA when nothing moves', () => {
    expect(lineOf({ ...half, bytesPerSecond: 0 }, 79)).toBe('340/1200 files  1.2/3.4 GB  35%  0 B/s  direct');
  });

  it('shows 100 % only when nothing is missing', () => {
    expect(lineOf({ ...half, bytes: half.totalBytes - 1 }, 79)).toContain('99%');
    expect(lineOf({ ...half, bytes: half.totalBytes }, 79)).toContain('100%');
    expect(lineOf({ ...half, bytes: 0, totalBytes: 0 }, 79)).toContain('100%');
  });
});

describe('the lines of several transfers', () => {
  const rows: ProgressRow[] = [
    { name: '1 bob', progress: half, via: 'direct' },
    { name: '2 carol', progress: { ...half, bytes: 0, files: 0, bytesPerSecond: 0 }, via: 'local' },
    { name: '3 dave', via: 'local' },
  ];

  it.each([
    [
      79,
      [
        '1 bob    340/1200 files  1.2/3.4 GB  35%   112 MB/s  ETA 0:20  direct',
        '2 carol    0/1200 files  0.0/3.4 GB   0%      0 B/s            local',
        '3 dave                                    not begun            local',
      ],
    ],
    [39, ['1 bob    35%   112 MB/s  ETA 0:20', '2 carol   0%      0 B/s', '3 dave        not begun']],
  ])('in %d columns are aligned', (columns, lines) => expect(progressLines(rows, columns)).toEqual(lines));

  it('fit any width, even with names in wide characters', () => {
    const wide = [...rows, { name: '4 東京の机の上のコンピュータ 🦆 e\u0301', progress: half, via: 'direct' }];
    for (let columns = 0; columns <= 120; columns++) {
      for (const line of progressLines(wide, columns)) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    }
    expect(progressLines(wide, 79)[3]).toMatch(/^4 東京の机の上のコ… {2,3}340\//u);
  });
});

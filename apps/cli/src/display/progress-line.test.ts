// SPDX-License-Identifier: MPL-2.0
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../terminal/terminal-text.ts';
import { fileLine, type Progress, type ProgressRow, plainLines, progressLines, sumOf } from './progress-line.ts';

const half: Progress = {
  files: 340,
  totalFiles: 1200,
  bytes: 1.2 * 1e9,
  totalBytes: 3.4 * 1e9,
  totalsFinal: true,
  bytesPerSecond: 112 * 1e6,
};
const plain = { colour: false, unicode: true };

/** The line of one transfer. */
const lineOf = (progress: Progress, columns: number, look = plain) =>
  progressLines([{ progress, via: 'direct' }], columns, look, 0)[0] ?? '';

describe('the line of one transfer', () => {
  it.each([
    [79, ' 35% ▕██████████▌                   ▏  1.2/3.4 GB   112 MB/s   ETA 0:20  direct'],
    [54, ' 35% ▕████▌        ▏  1.2/3.4 GB   112 MB/s   ETA 0:20'],
    [39, ' 35% ▕███▉       ▏  112 MB/s   ETA 0:20'],
    [26, ' 35% ▕███▏     ▏  112 MB/s'],
    [19, ' 35%   112 MB/s'],
    [5, ' 35%'],
  ])('in %d columns is: %s', (columns, text) => expect(lineOf(half, columns)).toBe(text));

  it('is in ASCII where the terminal shows no more', () => {
    expect(lineOf(half, 39, { colour: false, unicode: false })).toBe(' 35% [###--------]  112 MB/s   ETA 0:20');
  });

  it('fits any width', () => {
    const huge = { ...half, files: 4e6, totalFiles: 4e6, bytes: 2 ** 52, totalBytes: 2 ** 53, bytesPerSecond: 1 };
    for (const progress of [half, huge, { ...huge, totalsFinal: false }, { ...huge, bytes: 0, totalBytes: 0 }]) {
      for (let columns = 0; columns <= 200; columns++) {
        expect(columnsOf(lineOf(progress, columns))).toBeLessThanOrEqual(columns);
        if (columns >= 20) expect(lineOf(progress, columns)).not.toBe('');
      }
    }
  });

  it('keeps the length of its bar while the figures change', () => {
    const ends = [0, 2e6, 9.94e6, 99e6, 112e6, 1e9].map((bytesPerSecond) =>
      lineOf({ ...half, bytesPerSecond }, 79).indexOf('▏ '),
    );
    expect(new Set(ends).size).toBe(1);
  });

  it('shows neither a share nor an ETA while the totals grow, and a block that moves', () => {
    const walking: ProgressRow = { progress: { ...half, totalsFinal: false }, via: 'direct' };
    const at = (now: number) => progressLines([walking], 79, plain, now)[0] ?? '';
    expect(at(0)).toMatch(/^ {5}▕█{6} {24}▏ 1\.2\/3\.4 GB\+ {3}112 MB\/s {13}direct$/);
    expect(at(2000)).toMatch(/^ {5}▕ {24}█{6}▏/);
    expect(at(4000)).toBe(at(0));
    expect(progressLines([walking], 30, plain, 0)[0]).toMatch(/^1\.2 GB ▕/);
  });

  it('shows the bytes so far of standard input, which has no size', () => {
    expect(lineOf({ ...half, totalBytes: 0, totalsFinal: false }, 79)).toMatch(/▏ {6}1\.2 GB {3}112 MB/);
  });

  it('says why nothing moves, and shows no rate', () => {
    const held: ProgressRow = { progress: half, via: 'direct', held: 'reconnecting' };
    for (const columns of [39, 79, 159]) {
      const [line = ''] = progressLines([held], columns, plain, 0);
      expect(line).toContain('reconnecting');
      expect(line).not.toMatch(/MB\/s|ETA/);
    }
  });

  it('shows no ETA when nothing moves', () => {
    expect(lineOf({ ...half, bytesPerSecond: 0 }, 79)).toMatch(/1\.2\/3\.4 GB {6}0 B\/s +direct$/);
  });

  it('shows 100 % only when nothing is missing', () => {
    expect(lineOf({ ...half, bytes: half.totalBytes - 1 }, 79)).toContain('99%');
    expect(lineOf({ ...half, bytes: half.totalBytes }, 79)).toMatch(/^100% ▕█+▏/);
    expect(lineOf({ ...half, bytes: 0, totalBytes: 0 }, 79)).toMatch(/^100% ▕█+▏/);
  });

  it('has colours that leave its text unchanged', () => {
    const coloured = lineOf(half, 79, { colour: true, unicode: true });
    expect(stripVTControlCharacters(coloured)).toBe(lineOf(half, 79));
    expect(coloured).toContain('\u001b[32m█');
    const [held = ''] = progressLines([{ progress: half, via: '', held: 'paused' }], 79, { ...plain, colour: true }, 0);
    expect(held).toContain('\u001b[33m█');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for the escape sequence
    expect(held).toMatch(/\u001b\[33m *paused/);
  });
});

describe('the file below it', () => {
  const row: ProgressRow = { progress: half, via: 'direct', file: 'photos/summer/IMG_2041.jpg' };

  it.each([
    [79, '      340/1,200 files  photos/summer/IMG_2041.jpg'],
    [39, '  340/1,200 files  photos…/IMG_2041.jpg'],
    [20, '  340/1,200 files'],
    [10, undefined],
  ])('in %d columns is: %s', (columns, line) => expect(fileLine(row, columns, plain)).toBe(line));

  it('has no count if the file is the only one', () => {
    const one = { ...half, files: 0, totalFiles: 1 };
    expect(fileLine({ ...row, progress: one }, 39, plain)).toBe('  photos/summer/IMG_2041.jpg');
    expect(fileLine({ progress: one, via: '' }, 39, plain)).toBeUndefined();
    expect(fileLine({ via: '' }, 39, plain)).toBeUndefined();
  });

  it('fits any width, in wide characters, too', () => {
    for (let columns = 0; columns < 100; columns++) {
      for (const file of ['photos/東京の机の上のコンピュータ 🦆.jpeg', 'e\u0301'.repeat(90), '❤️'.repeat(60)]) {
        expect(columnsOf(fileLine({ ...row, file }, columns, plain) ?? '')).toBeLessThanOrEqual(columns);
      }
    }
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
      159,
      [
        '1 bob     35% ▕██████████████████▌                                  ▏  1.2/3.4 GB   112 MB/s   ETA 0:20  340/1,200 files  direct',
        '2 carol    0% ▕                                                     ▏  0.0/3.4 GB      0 B/s               0/1,200 files  local',
        '3 dave        ▕                                                     ▏               not begun                              local',
      ],
    ],
    [
      79,
      [
        '1 bob     35% ▕██████▎           ▏  1.2/3.4 GB   112 MB/s   ETA 0:20  direct',
        '2 carol    0% ▕                  ▏  0.0/3.4 GB      0 B/s             local',
        '3 dave        ▕                  ▏               not begun             local',
      ],
    ],
    [
      39,
      [
        '1 bob     35% ▕████▌        ▏  112 MB/s',
        '2 carol    0% ▕             ▏     0 B/s',
        '3 dave        ▕             ▏ not begun',
      ],
    ],
  ])('in %d columns are aligned', (columns, lines) => {
    const shown = progressLines(rows, columns, plain, 0);
    const bars = shown.map((line) => [line.indexOf('▕'), line.lastIndexOf('▏')]);
    expect(new Set(bars.map(String)).size).toBe(1);
    expect(shown.map(shape)).toEqual(lines.map(shape));
  });

  it('fit any width, even with names in wide characters', () => {
    const wide = [...rows, { name: '4 東京の机の上のコンピュータ 🦆 e\u0301', progress: half, via: 'direct' }];
    for (let columns = 0; columns <= 200; columns++) {
      for (const line of progressLines(wide, columns, plain, 0)) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    }
    expect(progressLines(wide, 79, plain, 0)[3]).toMatch(/^4 東京の机の上のコ… {2,3}35%/u);
  });

  it('have a sum, whose totals are final when all have begun', () => {
    expect(sumOf(rows)).toEqual({ ...half, totalFiles: 2400, totalBytes: 6.8 * 1e9, totalsFinal: false });
    expect(sumOf(rows.slice(0, 2))).toMatchObject({ files: 340, bytes: half.bytes, totalsFinal: true });
  });
});

/** A line without the length of its bar and of gaps. */
function shape(line: string): string {
  return line.replace(/▕.*▏/, '▕▏').replace(/ +/g, ' ');
}

describe('without a terminal', () => {
  it('a line has no bar', () => {
    const row = { progress: half, via: 'direct' };
    expect(plainLines([row])).toEqual(['340/1,200 files  1.2/3.4 GB  35%  112 MB/s  ETA 0:20  direct']);
    expect(plainLines([{ ...row, progress: { ...half, totalsFinal: false } }])).toEqual([
      '340/1,200+ files  1.2/3.4 GB+  112 MB/s  direct',
    ]);
    expect(plainLines([{ ...row, held: 'paused' }])).toEqual(['340/1,200 files  1.2/3.4 GB  35%  paused  direct']);
  });
});

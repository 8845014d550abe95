// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { createRecordedIo } from '../test/recorded-io.ts';
import { type Progress, ProgressLine, progressText } from './progress-line.ts';

const half: Progress = {
  files: 340,
  totalFiles: 1200,
  bytes: 1.2 * 2 ** 30,
  totalBytes: 3.4 * 2 ** 30,
  totalsFinal: true,
  bytesPerSecond: 112 * 2 ** 20,
  via: 'direct',
};

describe('progressText', () => {
  it.each([
    [79, '340/1200 files  1.2/3.4 GiB  35%  112 MiB/s  ETA 0:21  direct'],
    [60, '340/1200 files  1.2/3.4 GiB  35%  112 MiB/s  ETA 0:21'],
    [40, '1.2/3.4 GiB  112 MiB/s  ETA 0:21'],
    [30, '35%  112 MiB/s  ETA 0:21'],
    [19, '35%  112 MiB/s'],
    [5, '35%'],
  ])('in %d columns is: %s', (columns, text) => expect(progressText(half, columns)).toBe(text));

  it('fits any width, whatever it has to show', () => {
    const huge = { ...half, files: 4e6, totalFiles: 4e6, bytes: 2 ** 52, totalBytes: 2 ** 53, bytesPerSecond: 1 };
    for (const progress of [half, huge, { ...huge, totalsFinal: false }, { ...huge, bytes: 0, totalBytes: 0 }]) {
      for (let columns = 0; columns <= 200; columns++) {
        expect(progressText(progress, columns).length).toBeLessThanOrEqual(columns);
        if (columns >= 20) expect(progressText(progress, columns)).not.toBe('');
      }
    }
  });

  it('promises no end while the totals grow', () => {
    const walking = { ...half, totalsFinal: false };
    expect(progressText(walking, 79)).toBe('340/1200+ files  1.2/3.4 GiB+  112 MiB/s  direct');
  });

  it('leaves out the time that is left when nothing moves', () => {
    expect(progressText({ ...half, bytesPerSecond: 0 }, 79)).toBe('340/1200 files  1.2/3.4 GiB  35%  0 B/s  direct');
  });

  it('says 100 % only when nothing is missing', () => {
    expect(progressText({ ...half, bytes: half.totalBytes - 1 }, 79)).toContain('99%');
    expect(progressText({ ...half, bytes: half.totalBytes }, 79)).toContain('100%');
    expect(progressText({ ...half, bytes: 0, totalBytes: 0 }, 79)).toContain('100%');
  });
});

describe('ProgressLine on a terminal', () => {
  const open = (columns = 80) => {
    const io = createRecordedIo({ terminal: true, columns });
    return { io, line: new ProgressLine(io.stderr, io.now) };
  };

  it('repaints one line and leaves the last column free', () => {
    const { io, line } = open('35%  112 MiB/s  ETA 0:21'.length);
    line.show(half);
    expect(io.printed.stderr).toBe('\r35%  112 MiB/s\u001b[K');
  });

  it('repaints at most ten times a second', () => {
    const { io, line } = open();
    for (let ms = 0; ms < 1000; ms += 10) {
      line.show(half);
      io.advance(10);
    }
    expect(io.printed.stderr.split('\r')).toHaveLength(1 + 10);
  });

  it('puts a note above itself and comes back at once', () => {
    const { io, line } = open();
    line.show(half);
    line.note('a note');
    line.show(half);
    expect(io.printed.stderr).toContain('\r\u001b[Ka note\n\r340/1200 files');
  });

  it('stays away while a question is asked', async () => {
    const { io, line } = open();
    line.show(half);
    const before = `${io.printed.stderr}\r\u001b[K`;
    await line.during(async () => {
      io.advance(1000);
      line.show(half);
      expect(io.printed.stderr).toBe(before);
    });
    line.show(half);
    expect(io.printed.stderr.length).toBeGreaterThan(before.length);
  });

  it('clears nothing that it has not painted', () => {
    const { io, line } = open();
    line.clear();
    expect(io.printed.stderr).toBe('');
  });
});

it('prints a plain line every five seconds where there is no terminal', () => {
  const io = createRecordedIo();
  const line = new ProgressLine(io.stderr, io.now);
  for (let ms = 0; ms < 11_000; ms += 100) {
    line.show(half);
    io.advance(100);
  }
  line.clear();
  const text = '340/1200 files  1.2/3.4 GiB  35%  112 MiB/s  ETA 0:21  direct\n';
  expect(io.printed.stderr).toBe(text + text);
});

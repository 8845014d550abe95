// SPDX-License-Identifier: MPL-2.0
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRecordedIo, type RecordedIoOptions } from '../../test/recorded-io.ts';
import { shownBy } from '../../test/small-terminal.ts';
import { RepaintedLines } from './repainted-lines.ts';

afterEach(() => void vi.useRealTimers());

function open(options: RecordedIoOptions = {}) {
  const size = { columns: 40, rows: 10 };
  const io = createRecordedIo({ terminal: true, ...size, ...options });
  const lines = new RepaintedLines(io.stderr, io.now);
  const show = (...texts: string[]) => lines.show({ lines: () => texts, plainLine: () => texts.join(' | ') });
  return { io, lines, show, shown: () => shownBy(io.printed.stderr, size) };
}

describe('on a terminal', () => {
  it('are repainted in place', () => {
    const { io, show, shown } = open();
    for (const texts of [['one', 'two', 'three'], ['only'], ['1', '2']]) {
      show(...texts);
      expect(shown()).toEqual(texts);
      io.advance(1000);
    }
  });

  it('get the size of the terminal without the last column and a few rows', () => {
    const { io, lines } = open({ columns: 33, rows: 11 });
    const asked = vi.fn(() => []);
    lines.show({ lines: asked, plainLine: () => '' });
    expect(asked).toHaveBeenCalledWith(32, 7);
    expect(io.stderr.rows()).toBe(11);
  });

  it('are painted at most ten times a second', () => {
    const { io, show } = open();
    for (let ms = 0; ms < 1000; ms += 10) {
      show('line');
      io.advance(10);
    }
    expect(io.printed.stderr.split('line')).toHaveLength(1 + 10);
  });

  it('are repainted without new events, until they are cleared', () => {
    vi.useFakeTimers();
    const { io, lines } = open();
    const asked = vi.fn(() => [`at ${io.now()}`]);
    lines.show({ lines: asked, plainLine: () => '' });
    vi.advanceTimersByTime(3000);
    expect(asked).toHaveBeenCalledTimes(4);
    lines.clear();
    vi.advanceTimersByTime(3000);
    expect(asked).toHaveBeenCalledTimes(4);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stay below noted lines', () => {
    const { lines, show, shown } = open();
    show('one', 'two');
    lines.note('first note');
    lines.note('second note');
    expect(shown()).toEqual(['first note', 'second note', 'one', 'two']);
  });

  it('clear themselves completely, and no other lines', () => {
    const { io, lines, show, shown } = open();
    lines.clear();
    expect(io.printed.stderr).toBe('');
    lines.note('note');
    show('one', 'two', 'three');
    lines.clear();
    expect(shown()).toEqual(['note', '']);
    lines.clear();
    expect(shown()).toEqual(['note', '']);
  });

  it('are hidden while a question is asked', async () => {
    const { io, lines, show, shown } = open();
    show('one', 'two');
    await lines.during(async () => {
      io.advance(1000);
      show('one', 'two');
      lines.note('note');
      expect(shown()).toEqual(['note', '']);
    });
    show('one', 'two');
    expect(shown()).toEqual(['note', 'one', 'two']);
  });

  it('are repainted correctly after a narrower window has wrapped them', () => {
    let columns = 40;
    const { io } = open();
    const lines = new RepaintedLines({ ...io.stderr, columns: () => columns }, io.now);
    lines.show({ lines: () => ['x'.repeat(30), 'y'.repeat(10)], plainLine: () => '' });
    columns = 20;
    lines.clear();
    expect(io.printed.stderr).toContain('\r\u001b[2A\u001b[J');
  });
});

it('are a plain line every five seconds without a terminal', () => {
  const { io, lines, show } = open({ terminal: false });
  for (let ms = 0; ms < 11_000; ms += 100) {
    show('a', 'b');
    io.advance(100);
  }
  lines.clear();
  expect(io.printed.stderr).toBe('a | b\na | b\n');
});

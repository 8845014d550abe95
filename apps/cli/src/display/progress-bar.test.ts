// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../terminal/terminal-text.ts';
import { barOf, type Sweep } from './progress-bar.ts';

const shown = (progress: number | Sweep, columns: number, unicode = true) =>
  Object.values(barOf(progress, columns, unicode)).join('');

describe('a bar', () => {
  it.each([
    [0, '▕        ▏'],
    [1 / 64, '▕▏       ▏'],
    [0.5, '▕████    ▏'],
    [0.6, '▕████▊   ▏'],
    [63 / 64, '▕███████▉▏'],
    [1, '▕████████▏'],
    [1.7, '▕████████▏'],
    [-1, '▕        ▏'],
  ])('of %d in 10 columns is %s', (share, bar) => expect(shown(share, 10)).toBe(bar));

  it.each([
    [0, '[--------]'],
    [0.6, '[####----]'],
    [0.99, '[#######-]'],
    [1, '[########]'],
  ])('of %d in ASCII is %s', (share, bar) => expect(shown(share, 10, false)).toBe(bar));

  it.each([
    [0, '▕██        ▏', '[##--------]'],
    [0.5, '▕    ██    ▏', '[----##----]'],
    [1, '▕        ██▏', '[--------##]'],
  ])('without a share has a block at %d', (at, bar, ascii) => {
    expect(shown({ at }, 12)).toBe(bar);
    expect(shown({ at }, 12, false)).toBe(ascii);
  });

  it('has exactly its width', () => {
    for (let columns = 2; columns < 60; columns++) {
      for (const progress of [0, 0.013, 0.5, 0.99, 1, { at: 0 }, { at: 0.4 }, { at: 1 }]) {
        for (const unicode of [true, false]) expect(columnsOf(shown(progress, columns, unicode))).toBe(columns);
      }
    }
  });
});

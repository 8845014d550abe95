// SPDX-License-Identifier: MPL-2.0

/** The filled and the empty part of a bar, to be painted apart, and what encloses them. */
export interface Bar {
  before: string;
  filled: string;
  empty: string;
  after: string;
}

/** A block of a bar without a known share: its place among all places, from 0 to 1. */
export interface Sweep {
  at: number;
}

/** An eighth to seven eighths of a column. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const SWEEP_SHARE = 5;
const EDGES = 2;

/** A bar of exactly `columns` columns: to an eighth of a column with `unicode`, else in ASCII. */
export function barOf(progress: number | Sweep, columns: number, unicode: boolean): Bar {
  const inside = Math.max(0, columns - EDGES);
  const [before, after] = unicode ? ['▕', '▏'] : ['[', ']'];
  if (typeof progress !== 'number') return sweepingBar(progress, inside, unicode, { before, after });
  const share = Math.max(0, Math.min(1, progress));
  const filled = unicode ? blocks(share * inside) : '#'.repeat(Math.floor(share * inside));
  return { before, filled, empty: (unicode ? ' ' : '-').repeat(inside - filled.length), after };
}

/** The longest row of blocks that does not exceed `columns`. */
function blocks(columns: number): string {
  const eighths = Math.floor(columns * EIGHTHS.length);
  return '█'.repeat(Math.floor(eighths / EIGHTHS.length)) + EIGHTHS[eighths % EIGHTHS.length];
}

function sweepingBar({ at }: Sweep, inside: number, unicode: boolean, edges: { before: string; after: string }): Bar {
  const block = Math.min(inside, Math.max(1, Math.floor(inside / SWEEP_SHARE)));
  const left = Math.round(at * (inside - block));
  const space = unicode ? ' ' : '-';
  return {
    before: edges.before + space.repeat(left),
    filled: (unicode ? '█' : '#').repeat(block),
    empty: space.repeat(inside - block - left),
    after: edges.after,
  };
}

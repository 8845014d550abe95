// SPDX-License-Identifier: MPL-2.0

import { paint, type Screen } from '../terminal/io.ts';
import { columnsOf, shortened, shortenedPath } from '../terminal/terminal-text.ts';
import { formatBytes, formatBytesOf, formatClock, formatNumber, formatRate } from './format.ts';
import { barOf, type Sweep } from './progress-bar.ts';

/** Progress of one transfer, or the sum of several. */
export interface Progress {
  files: number;
  totalFiles: number;
  bytes: number;
  totalBytes: number;
  /** False while the totals still grow. */
  totalsFinal: boolean;
  bytesPerSecond: number;
}

/** The contents of one line. */
export interface ProgressRow {
  /** Name of the peer, if there may be several. */
  name?: string;
  /** Undefined until data moves. */
  progress?: Progress;
  /** Why nothing moves: `paused`. Replaces the rate. */
  held?: string;
  /** Connection path to the peer, or the number of peers. */
  via: string;
  /** Path of the file being moved, harmless. */
  file?: string;
}

type Field = 'name' | 'count' | 'size' | 'share' | 'bar' | 'rate' | 'eta' | 'via';

/** The terminal that the lines are for. */
export type Look = Pick<Screen, 'colour' | 'unicode'>;

const GAP = '  ';
const MOST_NAME_COLUMNS = 20;
/** Without a terminal. */
const PLAIN: readonly Field[] = ['name', 'count', 'size', 'share', 'rate', 'eta', 'via'];
/** Narrower layouts leave out the less important fields. `bar`: its least width. */
const LAYOUTS: readonly { fields: readonly Field[]; bar?: number }[] = [
  { fields: ['name', 'share', 'bar', 'size', 'rate', 'eta', 'count', 'via'], bar: 24 },
  { fields: ['name', 'share', 'bar', 'size', 'rate', 'eta', 'via'], bar: 14 },
  { fields: ['name', 'share', 'bar', 'size', 'rate', 'eta'], bar: 12 },
  { fields: ['name', 'share', 'bar', 'rate', 'eta'], bar: 8 },
  { fields: ['name', 'share', 'bar', 'rate'], bar: 6 },
  { fields: ['name', 'share', 'rate'] },
  { fields: ['name', 'share'] },
  { fields: ['share'] },
];
/** Widths kept free on a terminal, so that a bar does not change its length with every figure. */
const LEAST_COLUMNS: Readonly<Partial<Record<Field, number>>> = { share: 4, size: 11, rate: 9, eta: 9 };
const TO_THE_LEFT: readonly Field[] = ['name', 'via'];
const WIDE_COLUMNS = 60;
/** A file's name is left out where it would get less. */
const LEAST_FILE_COLUMNS = 8;
/** A bar without a known share goes there and back in this time. */
const SWEEP_MS = 4000;

/** One line per row, without a bar, with aligned fields. */
export function plainLines(rows: readonly ProgressRow[]): string[] {
  const cells = PLAIN.map((field) => cellsOf(rows, field, PLAIN));
  return joined(rows, PLAIN, cells, (text) => text);
}

/** One line per row for a terminal, at most `columns` wide, each with a bar if there is room. `now` moves bars without a share. */
export function progressLines(rows: readonly ProgressRow[], columns: number, look: Look, now: number): string[] {
  if (rows.length === 0) return [];
  const several = rows.length > 1;
  for (const { fields, bar: least } of LAYOUTS) {
    const layout = fields.filter((field) => field !== 'count' || several);
    const cells = layout.map((field) => cellsOf(rows, field, layout, columns, look));
    const taken = widthOf(layout, cells);
    if (taken + (least ?? 0) > columns) continue;
    return joined(rows, layout, cells, (text, field, row) =>
      field === 'bar' ? paintedBar(row, columns - taken, look, now) : painted(text, field, row, look),
    );
  }
  return rows.map((row) => fieldOf(row, 'share', []).slice(0, Math.max(0, columns)));
}

/** The line below that of a single transfer: how many of its files are there, and which one moves. Undefined if there is neither. */
export function fileLine({ progress, file }: ProgressRow, columns: number, look: Look): string | undefined {
  if (progress === undefined) return undefined;
  const indent = ' '.repeat(columns < WIDE_COLUMNS ? 2 : 6);
  const count = progress.totalFiles === 1 ? '' : countOf(progress);
  const left = columns - indent.length - (count === '' ? 0 : columnsOf(count) + GAP.length);
  const name = file === undefined || left < LEAST_FILE_COLUMNS ? '' : shortenedPath(file, left, look.unicode);
  const parts = [count === '' ? '' : paint(look, 'dim', count), name].filter((part) => part !== '');
  return parts.length === 0 || columnsOf(count) + indent.length > columns ? undefined : indent + parts.join(GAP);
}

/** The sum of several transfers. Its totals are not final before all have begun. */
export function sumOf(rows: readonly Pick<ProgressRow, 'progress'>[]): Progress {
  const sum = { files: 0, totalFiles: 0, bytes: 0, totalBytes: 0, totalsFinal: true, bytesPerSecond: 0 };
  for (const { progress } of rows) {
    sum.files += progress?.files ?? 0;
    sum.totalFiles += progress?.totalFiles ?? 0;
    sum.bytes += progress?.bytes ?? 0;
    sum.totalBytes += progress?.totalBytes ?? 0;
    sum.bytesPerSecond += progress?.bytesPerSecond ?? 0;
    sum.totalsFinal &&= progress?.totalsFinal === true;
  }
  return sum;
}

function cellsOf(rows: readonly ProgressRow[], field: Field, layout: readonly Field[], columns = 0, look?: Look) {
  const cells = rows.map((row) => fieldOf(row, field, layout));
  if (field !== 'name' || look === undefined)
    return padded(cells, look === undefined ? 0 : LEAST_COLUMNS[field], field);
  const most = Math.min(MOST_NAME_COLUMNS, Math.max(LEAST_FILE_COLUMNS, Math.floor(columns / 3)));
  return padded(
    cells.map((cell) => shortened(cell, most, look.unicode)),
    0,
    field,
  );
}

/** Makes the cells of one column equally wide. */
function padded(cells: string[], least = 0, field: Field): string[] {
  const widest = Math.max(...cells.map(columnsOf));
  const width = widest === 0 && field !== 'share' && field !== 'eta' ? 0 : Math.max(widest, least);
  return cells.map((cell) => {
    const space = ' '.repeat(width - columnsOf(cell));
    return TO_THE_LEFT.includes(field) ? cell + space : space + cell;
  });
}

/** Columns of a line without its bar, with all gaps. */
function widthOf(layout: readonly Field[], cells: readonly string[][]): number {
  const shown = layout.filter((field, column) => field === 'bar' || cells[column]?.[0] !== '');
  const gaps = shown.map((field, i) => gapBetween(shown[i - 1], field).length);
  const widths = cells.map(([cell = '']) => columnsOf(cell));
  return [...widths, ...gaps].reduce((sum, width) => sum + width, 0);
}

/** A bar's own edges are space enough. */
function gapBetween(left: Field | undefined, right: Field): string {
  if (left === undefined) return '';
  return left === 'bar' || right === 'bar' ? ' ' : GAP;
}

function joined(
  rows: readonly ProgressRow[],
  layout: readonly Field[],
  cells: readonly string[][],
  shownAs: (text: string, field: Field, row: ProgressRow) => string,
): string[] {
  const columns = layout
    .map((field, i) => ({ field, cells: cells[i] ?? [] }))
    .filter(({ field, cells: [cell] }) => field === 'bar' || cell !== '');
  return rows.map((row, i) => {
    const parts = columns.map(({ field, cells: of }, column) => {
      return gapBetween(columns[column - 1]?.field, field) + shownAs(of[i] ?? '', field, row);
    });
    return parts.join('').trimEnd();
  });
}

function painted(text: string, field: Field, { held }: ProgressRow, look: Look): string {
  if (text.trim() === '') return text;
  if (field === 'share') return paint(look, 'bold', text);
  if (field === 'rate' && held !== undefined) return paint(look, 'yellow', text);
  return field === 'via' || field === 'count'
    ? paint(look, 'dim', text.trimEnd()) + text.slice(text.trimEnd().length)
    : text;
}

function paintedBar(row: ProgressRow, columns: number, look: Look, now: number): string {
  const { before, filled, empty, after } = barOf(shareOf(row, now), columns, look.unicode);
  const colour = row.held === undefined ? 'green' : 'yellow';
  return paint(look, 'dim', before) + paint(look, colour, filled) + empty + paint(look, 'dim', after);
}

function shareOf({ progress }: ProgressRow, now: number): number | Sweep {
  if (progress === undefined) return 0;
  const { bytes, totalBytes, totalsFinal } = progress;
  if (totalsFinal) return totalBytes === 0 ? 1 : bytes / totalBytes;
  const turn = (now % SWEEP_MS) / SWEEP_MS;
  return { at: turn < 0.5 ? 2 * turn : 2 - 2 * turn };
}

function fieldOf(row: ProgressRow, field: Field, layout: readonly Field[]): string {
  const { name = '', progress, via, held } = row;
  if (field === 'name') return name;
  if (field === 'via') return via;
  if (field === 'rate' && held !== undefined) return held;
  if (field === 'bar') return '';
  if (progress === undefined) return field === 'rate' ? 'not begun' : '';
  const { bytes, totalBytes, totalsFinal, bytesPerSecond } = progress;
  switch (field) {
    case 'count':
      return countOf(progress);
    case 'size':
      return sizeOf(progress);
    case 'share':
      if (totalsFinal) return percent(bytes, totalBytes);
      return layout.includes('size') ? '' : formatBytes(bytes);
    case 'rate':
      return formatRate(bytesPerSecond);
    case 'eta':
      return held === undefined ? etaOf(progress) : '';
  }
}

function countOf({ files, totalFiles, totalsFinal }: Progress): string {
  const noun = totalFiles === 1 ? 'file' : 'files';
  return `${formatNumber(files)}/${formatNumber(totalFiles)}${totalsFinal ? '' : '+'} ${noun}`;
}

function sizeOf({ bytes, totalBytes, totalsFinal }: Progress): string {
  if (totalsFinal) return formatBytesOf(bytes, totalBytes);
  // Standard input has no size.
  return bytes > totalBytes ? formatBytes(bytes) : `${formatBytesOf(bytes, totalBytes)}+`;
}

function percent(bytes: number, totalBytes: number): string {
  // Show 100 % only when nothing is missing.
  return `${totalBytes === 0 ? 100 : Math.floor((100 * Math.min(bytes, totalBytes)) / totalBytes)}%`;
}

function etaOf({ bytes, totalBytes, totalsFinal, bytesPerSecond }: Progress): string {
  if (!totalsFinal || bytesPerSecond <= 0 || bytes >= totalBytes) return '';
  return `ETA ${formatClock((totalBytes - bytes) / bytesPerSecond)}`;
}

// SPDX-License-Identifier: MPL-2.0

import { columnsOf, shortened } from '../terminal/terminal-text.ts';
import { formatBytes, formatBytesOf, formatClock, formatRate } from './format.ts';

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
  /** Connection path to the peer, or the number of peers. */
  via: string;
}

type Field = 'name' | 'count' | 'size' | 'share' | 'rate' | 'eta' | 'via';

const GAP = '  ';
const NAME_COLUMNS = 20;
/** Narrower layouts leave out the less important fields. */
const LAYOUTS: readonly (readonly Field[])[] = [
  ['name', 'count', 'size', 'share', 'rate', 'eta', 'via'],
  ['name', 'count', 'size', 'share', 'rate', 'eta'],
  ['name', 'size', 'rate', 'eta'],
  ['name', 'share', 'rate', 'eta'],
  ['name', 'share', 'rate'],
  ['name', 'share'],
  ['share'],
];
const TO_THE_LEFT: readonly Field[] = ['name', 'via'];

/** One line per row, at most `columns` wide, with aligned fields. */
export function progressLines(rows: readonly ProgressRow[], columns: number): string[] {
  for (const layout of LAYOUTS) {
    const lines = aligned(rows, layout);
    if (lines.every((line) => columnsOf(line) <= columns)) return lines;
  }
  return rows.map((row) => fieldOf(row, 'share', []).slice(0, Math.max(0, columns)));
}

function aligned(rows: readonly ProgressRow[], layout: readonly Field[]): string[] {
  const lines = rows.map((): string[] => []);
  for (const field of layout) {
    const cells = rows.map((row) => fieldOf(row, field, layout));
    const width = Math.max(...cells.map(columnsOf));
    if (width === 0) continue;
    for (const [i, cell] of cells.entries()) {
      const space = ' '.repeat(width - columnsOf(cell));
      lines[i]?.push(TO_THE_LEFT.includes(field) ? cell + space : space + cell);
    }
  }
  return lines.map((fields) => fields.join(GAP).trimEnd());
}

function fieldOf({ name = '', progress, via }: ProgressRow, field: Field, layout: readonly Field[]): string {
  if (field === 'name') return shortened(name, NAME_COLUMNS);
  if (field === 'via') return via;
  if (progress === undefined) return field === 'rate' ? 'not begun' : '';
  const { files, totalFiles, bytes, totalBytes, totalsFinal, bytesPerSecond } = progress;
  const open = totalsFinal ? '' : '+';
  switch (field) {
    case 'count':
      return `${files}/${totalFiles}${open} ${totalFiles === 1 ? 'file' : 'files'}`;
    case 'size':
      return `${formatBytesOf(bytes, totalBytes)}${open}`;
    case 'share':
      if (totalsFinal) return percent(bytes, totalBytes);
      return layout.includes('size') ? '' : formatBytes(bytes);
    case 'rate':
      return formatRate(bytesPerSecond);
    case 'eta':
      return etaOf(progress);
  }
}

function percent(bytes: number, totalBytes: number): string {
  // Show 100 % only when nothing is missing.
  return `${totalBytes === 0 ? 100 : Math.floor((100 * Math.min(bytes, totalBytes)) / totalBytes)}%`;
}

function etaOf({ bytes, totalBytes, totalsFinal, bytesPerSecond }: Progress): string {
  if (!totalsFinal || bytesPerSecond <= 0 || bytes >= totalBytes) return '';
  return `ETA ${formatClock((totalBytes - bytes) / bytesPerSecond)}`;
}

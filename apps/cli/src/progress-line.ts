// SPDX-License-Identifier: MPL-2.0
import { formatBytes, formatBytesOf, formatClock, formatRate } from './format.ts';
import { columnsOf, shortened } from './terminal-text.ts';

/** How far one transfer is, or the sums over several at once. */
export interface Progress {
  files: number;
  totalFiles: number;
  bytes: number;
  totalBytes: number;
  /** False while the totals still grow. */
  totalsFinal: boolean;
  bytesPerSecond: number;
}

/** What one line shows. */
export interface ProgressRow {
  /** Whose transfer it is, if there may be several. */
  name?: string;
  /** Absent: nothing has moved yet. */
  progress?: Progress;
  /** How the peer is reached, or how many are. */
  via: string;
}

type Field = 'name' | 'count' | 'size' | 'share' | 'rate' | 'eta' | 'via';

const GAP = '  ';
const NAME_COLUMNS = 20;
/** What matters less is left out until it fits. */
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

/** A line for each row, in at most `columns` columns of a terminal, the fields of all under one another. */
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
  // 100 % only when nothing is missing.
  return `${totalBytes === 0 ? 100 : Math.floor((100 * Math.min(bytes, totalBytes)) / totalBytes)}%`;
}

function etaOf({ bytes, totalBytes, totalsFinal, bytesPerSecond }: Progress): string {
  if (!totalsFinal || bytesPerSecond <= 0 || bytes >= totalBytes) return '';
  return `ETA ${formatClock((totalBytes - bytes) / bytesPerSecond)}`;
}

// SPDX-License-Identifier: MPL-2.0
import { stripVTControlCharacters } from 'node:util';
import type { Screen } from '../terminal/io.ts';
import { columnsOf } from '../terminal/terminal-text.ts';

/** Two rows of modules per line, dark on light in any terminal theme. */
export async function qrCode(text: string, { colour }: Pick<Screen, 'colour'>): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr');
  const lines = renderUnicodeCompact(text, { ecc: 'L', border: 2 }).split('\n');
  return lines.map((line) => (colour ? `\u001b[97;40m${line}\u001b[0m\n` : `${line}\n`)).join('');
}

/** Why a screen cannot show this QR code, as the end of a sentence; undefined if it can. */
export function whyUnshown(qr: string, screen: Screen): string | undefined {
  if (!screen.isTerminal) return 'the output is no terminal.';
  if (!screen.unicode) return 'the locale of this terminal is not UTF-8.';
  const lines = qr.trimEnd().split('\n');
  const columns = columnsOf(stripVTControlCharacters(lines[0] ?? ''));
  if (columns < screen.columns() && lines.length < screen.rows()) return undefined;
  return `it needs ${columns + 1} columns and ${lines.length + 1} rows.`;
}

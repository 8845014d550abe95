// SPDX-License-Identifier: MPL-2.0

/** The visible lines of a terminal of `columns` by `rows` after `text`. Every character takes one column. */
export function shownBy(text: string, { columns, rows }: { columns: number; rows: number }): string[] {
  const lines = [''];
  let [row, column] = [0, 0];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that are looked for begin with one
  for (const [token, , count, action] of text.matchAll(/(\u001b\[(\d*)([A-Za-z]))|./gsu)) {
    const line = lines[row] ?? '';
    if (action === 'A') {
      row = Math.max(0, lines.length - rows, row - Number(count || 1));
    } else if (action === 'K' || action === 'J') {
      lines[row] = line.slice(0, column);
      if (action === 'J') lines.length = row + 1;
    } else if (token === '\r') {
      column = 0;
    } else if (token === '\n' || column === columns) {
      row++;
      column = 0;
      lines[row] ??= '';
    }
    if (action !== undefined || token === '\r' || token === '\n') continue;
    const before = (lines[row] ?? '').padEnd(column);
    lines[row] = before.slice(0, column) + token + before.slice(column + 1);
    column++;
  }
  return lines.slice(-rows);
}

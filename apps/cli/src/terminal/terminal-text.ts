// SPDX-License-Identifier: MPL-2.0

/**
 * Characters that must not reach a terminal from a peer: controls (escape sequences begin with one), characters that
 * change text direction or are invisible, line separators, and lone surrogates.
 */
const UNSAFE =
  /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** `text` on one line, with every character that could act on a terminal escaped. */
export function harmless(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** Like `harmless`, but keeps line breaks and tabs. */
export function harmlessLines(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : escaped(char)));
}

/** A name in quotes, for a sentence. */
export function quoted(text: string): string {
  return `"${harmless(text)}"`;
}

/** Characters of width zero, and of width two. */
const NO_COLUMN = /\p{Mn}|\p{Me}|\p{Cf}/u;
const TWO_COLUMNS =
  /\p{sc=Han}|\p{sc=Hangul}|\p{sc=Hiragana}|\p{sc=Katakana}|\p{Emoji_Presentation}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;

/** Width of harmless text in terminal columns. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += columnsOfChar(char);
  return columns;
}

/** Shortens `text` to at most `columns` columns, with an ellipsis. */
export function shortened(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = '';
  let left = columns - 1;
  for (const char of text) {
    left -= columnsOfChar(char);
    if (left < 0) break;
    kept += char;
  }
  return `${kept}…`;
}

function columnsOfChar(char: string): number {
  if (NO_COLUMN.test(char)) return 0;
  return TWO_COLUMNS.test(char) ? 2 : 1;
}

function escaped(char: string): string {
  const point = char.codePointAt(0) ?? 0;
  return NAMED[char] ?? (point < 0x100 ? `\\x${point.toString(16).padStart(2, '0')}` : `\\u{${point.toString(16)}}`);
}

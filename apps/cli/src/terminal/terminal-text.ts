// SPDX-License-Identifier: MPL-2.0
import { stripVTControlCharacters } from 'node:util';

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

/** Characters of width zero, and of width two. Terminals disagree about some: these count as the wider. */
const NO_COLUMN = /\p{Mn}|\p{Me}|\p{Cf}/u;
const EMOJI_SELECTOR = '\ufe0f';
const TWO_COLUMNS =
  /\p{sc=Han}|\p{sc=Hangul}|\p{sc=Hiragana}|\p{sc=Katakana}|\p{sc=Bopomofo}|\p{sc=Yi}|\p{Emoji_Presentation}|[\u3000-\u303e\u3190-\u33ff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/u;

/** Width of harmless text in terminal columns. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += columnsOfChar(char);
  return columns;
}

/** Shortens `text` to at most `columns` columns, with a mark where its end was. @param unicode  the terminal shows more than ASCII */
export function shortened(text: string, columns: number, unicode = true): string {
  if (columnsOf(text) <= columns) return text;
  return columns < 1 ? '' : beginOf([...text], columns - 1) + markOf(unicode);
}

/** Shortens a path in its middle, so that its end with the extension stays. */
export function shortenedPath(path: string, columns: number, unicode = true): string {
  if (columnsOf(path) <= columns) return path;
  if (columns < 1) return '';
  const chars = [...path];
  const end = beginOf(chars.toReversed(), Math.ceil((2 * (columns - 1)) / 3));
  const kept = [...end].reverse().join('');
  return beginOf(chars, columns - 1 - columnsOf(kept)) + markOf(unicode) + kept;
}

/** Breaks each line of `text` between words, so that it fits `columns`. Words that are longer stay whole. Colours take no room. */
export function wrapped(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrappedLine(line, columns))
    .join('\n');
}

function wrappedLine(line: string, columns: number): string {
  if (columnsOf(stripVTControlCharacters(line)) <= columns) return line;
  const indent = /^ */.exec(line)?.[0] ?? '';
  let [lines, used] = ['', 0];
  for (const word of line.slice(indent.length).split(/(?<=[^ ]) /)) {
    const width = columnsOf(stripVTControlCharacters(word));
    if (used > 0 && used + 1 + width > columns) {
      lines += `\n${indent}${word.trimStart()}`;
      used = indent.length + columnsOf(stripVTControlCharacters(word.trimStart()));
    } else {
      lines += used === 0 ? indent + word : ` ${word}`;
      used += used === 0 ? indent.length + width : 1 + width;
    }
  }
  return lines;
}

/** The first of `chars` that fit. */
function beginOf(chars: readonly string[], columns: number): string {
  let kept = '';
  let left = columns;
  for (const char of chars) {
    left -= columnsOfChar(char);
    if (left < 0) break;
    kept += char;
  }
  return kept;
}

function markOf(unicode: boolean): string {
  return unicode ? '…' : '~';
}

function columnsOfChar(char: string): number {
  if (char === EMOJI_SELECTOR) return 1;
  if (NO_COLUMN.test(char)) return 0;
  return TWO_COLUMNS.test(char) ? 2 : 1;
}

function escaped(char: string): string {
  const point = char.codePointAt(0) ?? 0;
  return NAMED[char] ?? (point < 0x100 ? `\\x${point.toString(16).padStart(2, '0')}` : `\\u{${point.toString(16)}}`);
}

// SPDX-License-Identifier: MPL-2.0

/**
 * What must not reach a terminal from a peer: control characters (escape sequences begin with one), the characters that turn the
 * direction of text or hide in it, line separators, and halves of surrogate pairs.
 */
const UNSAFE =
  /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** `text` on one line, with everything that could act on a terminal shown as an escape instead. */
export function harmless(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** Like `harmless`, but text of several lines stays text of several lines. */
export function harmlessLines(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : escaped(char)));
}

/** A name in quotes, for use inside a sentence. */
export function quoted(text: string): string {
  return `"${harmless(text)}"`;
}

function escaped(char: string): string {
  const point = char.codePointAt(0) ?? 0;
  return NAMED[char] ?? (point < 0x100 ? `\\x${point.toString(16).padStart(2, '0')}` : `\\u{${point.toString(16)}}`);
}

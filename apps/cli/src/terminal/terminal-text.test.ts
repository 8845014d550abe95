// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { harmless, harmlessLines, quoted } from './terminal-text.ts';

describe('harmless', () => {
  it.each([
    ['a title change', '\u001b]0;owned\u0007', '\\x1b]0;owned\\x07'],
    ['a colour', 'a\u001b[31mb', 'a\\x1b[31mb'],
    ['an eight-bit escape', 'a\u009b31mb', 'a\\x9b31mb'],
    ['a carriage return', 'a\rb', 'a\\rb'],
    ['a newline', 'a\nb', 'a\\nb'],
    ['a tab', 'a\tb', 'a\\tb'],
    ['NUL and DEL', '\0\u007f', '\\x00\\x7f'],
    ['a right-to-left override', 'photo\u202egpj.exe', 'photo\\u{202e}gpj.exe'],
    ['a direction isolate', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
    ['a zero-width space', 'a\u200bb', 'a\\u{200b}b'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['half a surrogate pair', 'a\ud83db', 'a\\u{d83d}b'],
    ['a tag character', 'a\u{e0041}', 'a\\u{e0041}'],
  ])('escapes %s', (_, text, shown) => expect(harmless(text)).toBe(shown));

  it.each(['plain name.txt', 'naïve café', '写真 📷', 'it\'s "quoted" & $HOME'])('leaves %s unchanged', (text) =>
    expect(harmless(text)).toBe(text),
  );
});

it('keeps line breaks and tabs, and escapes all other controls', () => {
  expect(harmlessLines('a\r\n\tb\rc\u001b[2J')).toBe('a\n\tb\\rc\\x1b[2J');
});

it('quotes and escapes a name', () => expect(quoted('a\nb')).toBe('"a\\nb"'));

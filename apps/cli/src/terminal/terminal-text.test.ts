// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { columnsOf, harmless, harmlessLines, quoted, shortened, shortenedPath, wrapped } from './terminal-text.ts';

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

it.each([
  ['abc', 3],
  ['東京', 4],
  ['e\u0301', 1],
  ['🦆', 2],
  ['❤\ufe0f', 2],
  ['①ㄅꀀ㎏', 7],
])('measures %s as %d columns', (text, columns) => expect(columnsOf(text)).toBe(columns));

it.each([
  ['photos/IMG_2041.jpg', 19, 'photos/IMG_2041.jpg'],
  ['photos/IMG_2041.jpg', 18, 'photo…IMG_2041.jpg'],
  ['photos/IMG_2041.jpg', 8, 'ph…1.jpg'],
  ['photos/IMG_2041.jpg', 1, '…'],
  ['photos/IMG_2041.jpg', 0, ''],
  ['写真/東京の机の上.png', 12, '写…の上.png'],
])('shortens %s in the middle to %d columns: %s', (path, columns, shown) => {
  expect(shortenedPath(path, columns)).toBe(shown);
});

it('marks what is left out by ASCII where the terminal shows no more', () => {
  expect(shortened('abcdef', 4, false)).toBe('abc~');
  expect(shortenedPath('abcdef', 4, false)).toBe('a~ef');
});

describe('wrapped', () => {
  it.each([
    ['a short line', 20, 'a short line'],
    ['one  (two)', 8, 'one\n(two)'],
    ['bob offers 3 files, 1 folder, 16 MB', 20, 'bob offers 3 files,\n1 folder, 16 MB'],
    ['  bob: connect refused by the peer', 20, '  bob: connect\n  refused by the\n  peer'],
    ['keibidrop receive 7-guitar-pencil', 10, 'keibidrop\nreceive\n7-guitar-pencil'],
    ['one two\nthree four', 8, 'one two\nthree\nfour'],
    ['Receive them? [y/N] ', 10, 'Receive\nthem?\n[y/N] '],
    ['東京の 机の上 です', 8, '東京の\n机の上\nです'],
  ])('%j in %d columns', (text, columns, lines) => expect(wrapped(text, columns)).toBe(lines));

  it('does not count colours', () => {
    expect(wrapped('\u001b[33mone two\u001b[39m three', 8)).toBe('\u001b[33mone two\u001b[39m\nthree');
  });
});

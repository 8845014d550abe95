// SPDX-License-Identifier: MPL-2.0

import { codeLink } from '@keibidrop/daemon/local';
import { describe, expect, it } from 'vitest';
import { codeIn, spelled } from './code-text.ts';

describe('typed text', () => {
  it.each([
    ['7-guitar-pencil', '7-guitar-pencil'],
    [' 7 Guitar  pencil', '7-guitar-pencil'],
    ['7-guitar ', '7-guitar-'],
    ['7 - guitar', '7-guitar'],
    ['7-guitar-pencil ', '7-guitar-pencil-'],
    ['7–GUITAR', '7-guitar'],
    ['keibidrop://receive/7-guitar-pencil', '7-guitar-pencil'],
    ['KeibiDrop://receive/7-guitar-pencil/\n', '7-guitar-pencil'],
    ['keibidrop receive 7-gui', '7-gui'],
    ['Your code: 7-Guitar-Pencil.', '7-guitar-pencil'],
    [codeLink('12-zone-zoo'), '12-zone-zoo'],
    ['keibidrop://id/abc', 'keibidrop://id/abc'],
  ])('%j is spelled %j', (text, expected) => {
    expect(spelled(text)).toBe(expected);
  });
});

describe('the code in a text', () => {
  it.each([
    ['7-guitar-pencil', '7-guitar-pencil'],
    [' \t7 GUITAR pencil \r\n', '7-guitar-pencil'],
    ['7-guitar-pencil-', '7-guitar-pencil'],
    ['7\u2011guitar\u2011pencil\u200b', '7-guitar-pencil'],
    ['“7-guitar-pencil”', '7-guitar-pencil'],
    ['$ keibidrop receive 7-guitar-pencil --out ~/in\n', '7-guitar-pencil'],
    ['npx keibidrop receive --yes 7-guitar-pencil-zoo', '7-guitar-pencil-zoo'],
    ['Hi,\n7-guitar-pencil is the code of 2026-11-22', '7-guitar-pencil'],
    ['of 2026-11-22: 7-guitar-pencil', '7-guitar-pencil'],
    ['open <keibidrop://receive/7-guitar-pencil?x> now', '7-guitar-pencil'],
  ])('%j is 7-guitar-pencil, or what it says', (text, expected) => {
    expect(codeIn(text)).toBe(expected);
  });

  it.each(['7-guitar', '7-guitar-', '', 'until 2026-11-22', 'keibidrop://id/abc', 'what is 7-x?'])(
    '%j has none',
    (text) => {
      expect(codeIn(text)).toBeUndefined();
    },
  );
});

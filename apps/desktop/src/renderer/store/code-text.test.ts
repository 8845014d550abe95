// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { codeLink, isCode, spelled } from './code-text.ts';

describe('what was typed or pasted', () => {
  it.each([
    ['7-guitar-pencil', '7-guitar-pencil'],
    [' 7 Guitar  pencil', '7-guitar-pencil'],
    ['7-guitar ', '7-guitar-'],
    ['7 - guitar', '7-guitar'],
    ['keibidrop://receive/7-guitar-pencil', '7-guitar-pencil'],
    ['KeibiDrop://receive/7-guitar-pencil/\n', '7-guitar-pencil'],
    ['keibidrop receive 7-guitar-pencil', '7-guitar-pencil'],
    [codeLink('12-zone-zoo'), '12-zone-zoo'],
    ['keibidrop://id/abc', 'keibidrop://id/abc'],
  ])('%j is spelled %j', (text, expected) => {
    expect(spelled(text)).toBe(expected);
  });

  it('is a code with a number and two words', () => {
    expect(['7-guitar-pencil', '7-guitar', '7-guitar-', ''].map(isCode)).toEqual([true, false, false, false]);
  });
});

// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { completeCode } from './code-completion.ts';

describe('completeCode', () => {
  it.each([
    ['7-guit', ['7-guitar']],
    ['7-guitar-penc', ['7-guitar-pencil']],
    ['  7 Guitar  PENC', ['7-guitar-pencil']],
    ['12-zo', ['12-zone', '12-zoo']],
    // Complete already, and no longer word begins with it.
    ['7-guitar', []],
    // Earlier words may be chosen ones.
    ['7-x9-pian', ['7-x9-piano']],
    ['7-', []],
    ['7', []],
    ['guit', []],
    ['', []],
    ['7-qqq', []],
  ])('completes %j', (text, expected) => {
    expect(completeCode(text)).toEqual(expected);
  });

  it('returns at most the requested number, in the order of the list', () => {
    expect(completeCode('7-a', 3)).toEqual(['7-abandon', '7-ability', '7-able']);
  });
});

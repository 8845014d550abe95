// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { limitOf, sendRequestOf, USUAL_SEND } from './send-options.ts';

describe('limitOf', () => {
  it.each([
    ['', undefined],
    [' 10 ', 10_000_000],
    ['2.5', 2_500_000],
    ['2,5', 2_500_000],
    ['0', Number.NaN],
    ['-1', Number.NaN],
    ['fast', Number.NaN],
    ['1e3', Number.NaN],
  ])('of %j', (text, expected) => {
    expect(limitOf(text)).toBe(expected);
  });
});

describe('sendRequestOf', () => {
  it('leaves out options that the user did not choose', () => {
    expect(sendRequestOf(USUAL_SEND, [])).toEqual({
      receivers: 1,
      incognito: false,
      to: [],
      reach: { directOnly: false, relayOnly: false },
    });
  });

  it('contains the chosen options', () => {
    expect(sendRequestOf({ receivers: 0, incognito: true, save: '', way: 'relay', limit: '1' }, ['Anna'])).toEqual({
      receivers: 0,
      incognito: true,
      to: ['Anna'],
      reach: { directOnly: false, relayOnly: true, limit: 1_000_000 },
    });
  });

  it.each([
    ['one receiver with a code', {}, [], 'Ben'],
    ['several', { receivers: 2 }, [], undefined],
    ['a contact', {}, ['Anna'], undefined],
    ['no one when incognito', { incognito: true }, [], undefined],
    ['no one without a name', { save: ' ' }, [], undefined],
  ])('keeps %s', (_who, chosen, to, saved) => {
    expect(sendRequestOf({ ...USUAL_SEND, save: ' Ben ', ...chosen }, to).save).toBe(saved);
  });
});

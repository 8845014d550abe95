// SPDX-License-Identifier: MPL-2.0
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agoText, dateText, dayKey, dayText, momentText } from './times.ts';

const NOW = new Date(2026, 10, 22, 14, 30).getTime();
const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).getTime();

beforeEach(() => void vi.stubGlobal('navigator', { languages: ['en-GB'] }));
afterEach(() => void vi.unstubAllGlobals());

describe('agoText', () => {
  it.each([
    [NOW - 5_000, 'en', 'now'],
    [NOW + 60_000, 'en', 'now'],
    [at(22, 14, 25), 'en', '5 minutes ago'],
    [at(22, 11, 15), 'de', 'vor 3 Stunden'],
    [at(21, 23, 0), 'en', 'yesterday'],
    [at(21, 23, 0), 'es', 'ayer'],
    [at(19, 12), 'de', 'vor 3 Tagen'],
    [at(2, 12), 'de', '2. November'],
    [new Date(2025, 1, 3).getTime(), 'es', '3 de febrero de 2025'],
  ] as const)('%i in %s is %s', (time, language, text) => {
    expect(agoText(time, NOW, language)).toBe(text);
  });
});

describe('dayText', () => {
  it('names today and yesterday by calendar day', () => {
    expect(dayText(at(22, 0, 1), NOW, 'en')).toBe('Today');
    expect(dayText(at(21, 23, 59), NOW, 'de')).toBe('Gestern');
    expect(dayText(at(20, 23, 59), NOW, 'en')).toBe(dateText(at(20, 0), NOW, 'en'));
  });

  it('shows a date for a time in the future', () => {
    expect(dayText(at(23, 1), NOW, 'en')).toBe(dateText(at(23, 1), NOW, 'en'));
  });
});

it('gives each local day one key', () => {
  expect(dayKey(at(22, 0))).toBe(dayKey(at(22, 23, 59)));
  expect(dayKey(at(22, 0))).not.toBe(dayKey(at(21, 23, 59)));
});

describe('momentText', () => {
  it.each([
    [['en-US', 'en'], 'en', 'November 2, 2:05 PM'],
    [['en-AU'], 'en', '2 November, 2:05 pm'],
    [['de-CH', 'en'], 'en', '2 November, 14:05'],
    [['en-US'], 'de', '2. November, 14:05'],
    [['en-US', 'de-AT'], 'de', '2. November, 14:05'],
  ] as const)('of a reader of %s in %s is %s', (languages, language, text) => {
    vi.stubGlobal('navigator', { languages });
    // Some locales put a narrow no-break space before AM/PM.
    expect(momentText(at(2, 14, 5), NOW, language).replace(/\u202f/g, ' ')).toBe(text);
  });
});

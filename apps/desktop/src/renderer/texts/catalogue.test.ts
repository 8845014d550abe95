// SPDX-License-Identifier: MPL-2.0
import { readdirSync, readFileSync } from 'node:fs';
import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { errorText, errorWords } from './errors.ts';
import { textsOf } from './texts.ts';

const HERE = new URL('.', import.meta.url);
const LANGUAGES = ['en', 'de', 'es'] as const;
const ROOMS = readdirSync(new URL('en/', HERE));

function textsIn(language: string, room: string): Record<string, string> {
  return JSON.parse(readFileSync(new URL(`${language}/${room}`, HERE), 'utf8')) as Record<string, string>;
}

/** The argument names of a message. */
function argumentsOf(message: string, language: string): string[] {
  const names = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, value: name } = value as { type?: number; value?: unknown };
    // 0 is text, 7 is the number sign of a plural.
    if (typeof type === 'number' && type !== 0 && type !== 7 && typeof name === 'string') names.add(name);
    for (const each of Object.values(value)) walk(each);
  };
  walk(new IntlMessageFormat(message, language).getAst());
  return [...names].sort();
}

describe.each(ROOMS)('%s', (room) => {
  it('has the same texts with the same arguments in every language, and none is empty', () => {
    const english = textsIn('en', room);
    for (const language of LANGUAGES) {
      const texts = textsIn(language, room);
      expect(Object.keys(texts).sort()).toEqual(Object.keys(english).sort());
      for (const [key, message] of Object.entries(texts)) {
        expect([key, message.trim() !== '', argumentsOf(message, language)]).toEqual([
          key,
          true,
          argumentsOf(english[key] ?? '', 'en'),
        ]);
      }
    }
  });
});

describe('errorText', () => {
  it.each(LANGUAGES)('says in %s what to do', (language) => {
    const { t } = textsOf(language);
    expect(errorText(t, { code: 'CODE_WRONG', message: 'x' })).not.toBe('x');
  });

  it.each(['USAGE', 'CONFIG_INVALID', 'MOUNT_UNAVAILABLE'])(
    'says of %s what it is about, and what the daemon says',
    (code) => {
      const message = 'What the daemon says.';
      const words = LANGUAGES.map((language) => errorWords(textsOf(language).t, { code, message }));
      expect(words.map(({ detail }) => detail)).toEqual([message, message, message]);
      expect(new Set(words.map(({ text }) => text)).size).toBe(LANGUAGES.length);
      expect(words.map(({ text }) => text)).not.toContain(message);
    },
  );

  it('leaves what no catalogue knows to the daemon', () => {
    expect(errorWords(textsOf('de').t, { code: 'NEW', message: 'What it says.' })).toEqual({ text: 'What it says.' });
  });
});

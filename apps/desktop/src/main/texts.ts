// SPDX-License-Identifier: MPL-2.0
import { IntlMessageFormat } from 'intl-messageformat';
import type { Language } from '../shared/languages.ts';
import de from './texts/de.json';
import en from './texts/en.json';
import es from './texts/es.json';

export type TextKey = keyof typeof en;

// Texts outside the page: tray, menus, notifications, dialogs. A language that lacks a text does not compile.
const CATALOGUE: Readonly<Record<Language, Readonly<Record<TextKey, string>>>> = { en, de, es };

/** The texts outside the page in one language. */
export interface Texts {
  readonly language: Language;
  t(key: TextKey, values?: Readonly<Record<string, string | number>>): string;
}

export function textsIn(language: Language): Texts {
  const formats = new Map<TextKey, IntlMessageFormat>();
  return {
    language,
    t(key, values) {
      let format = formats.get(key);
      if (format === undefined) {
        format = new IntlMessageFormat(CATALOGUE[language][key], language);
        formats.set(key, format);
      }
      return String(format.format(values));
    },
  };
}

// SPDX-License-Identifier: MPL-2.0
import { IntlMessageFormat } from 'intl-messageformat';
import { type Language, languageOf } from '../../shared/languages.ts';
import { useLook } from '../store/preferences.ts';
import deErrors from './de/errors.json';
import deFrame from './de/frame.json';
import deHistory from './de/history.json';
import deMounts from './de/mounts.json';
import dePeople from './de/people.json';
import deReceive from './de/receive.json';
import deSend from './de/send.json';
import deSettings from './de/settings.json';
import deTransfers from './de/transfers.json';
import deWelcome from './de/welcome.json';
import enErrors from './en/errors.json';
import enFrame from './en/frame.json';
import enHistory from './en/history.json';
import enMounts from './en/mounts.json';
import enPeople from './en/people.json';
import enReceive from './en/receive.json';
import enSend from './en/send.json';
import enSettings from './en/settings.json';
import enTransfers from './en/transfers.json';
import enWelcome from './en/welcome.json';
import esErrors from './es/errors.json';
import esFrame from './es/frame.json';
import esHistory from './es/history.json';
import esMounts from './es/mounts.json';
import esPeople from './es/people.json';
import esReceive from './es/receive.json';
import esSend from './es/send.json';
import esSettings from './es/settings.json';
import esTransfers from './es/transfers.json';
import esWelcome from './es/welcome.json';

// One file per room and language. Keys start with the room's name; messages are ICU. A missing text does not compile.
const en = {
  ...enErrors,
  ...enFrame,
  ...enSend,
  ...enReceive,
  ...enTransfers,
  ...enPeople,
  ...enSettings,
  ...enHistory,
  ...enMounts,
  ...enWelcome,
};
const de: Record<TextKey, string> = {
  ...deErrors,
  ...deFrame,
  ...deSend,
  ...deReceive,
  ...deTransfers,
  ...dePeople,
  ...deSettings,
  ...deHistory,
  ...deMounts,
  ...deWelcome,
};
const es: Record<TextKey, string> = {
  ...esErrors,
  ...esFrame,
  ...esSend,
  ...esReceive,
  ...esTransfers,
  ...esPeople,
  ...esSettings,
  ...esHistory,
  ...esMounts,
  ...esWelcome,
};

const CATALOGUE = { en, de, es } as const;

export type TextKey = keyof typeof en;
export type TextValues = Readonly<Record<string, string | number>>;
/** Returns a text in the page's language. */
export type Translate = (key: TextKey, values?: TextValues) => string;

/** Texts and number, time and list formats in one language. */
export interface Texts {
  readonly language: Language;
  readonly t: Translate;
}

const made = new Map<Language, Texts>();

/** Texts in the page's language. The component renders again when the language changes. */
export function useTexts(): Texts {
  const language = useLook((look) => look.language);
  return textsOf(language === 'system' ? languageOf(navigator.languages) : language);
}

export function textsOf(language: Language): Texts {
  let texts = made.get(language);
  if (texts === undefined) {
    texts = { language, t: translator(language) };
    made.set(language, texts);
  }
  return texts;
}

function translator(language: Language): Translate {
  const formats = new Map<TextKey, IntlMessageFormat>();
  return (key, values) => {
    let format = formats.get(key);
    if (format === undefined) {
      format = new IntlMessageFormat(CATALOGUE[language][key], language);
      formats.set(key, format);
    }
    return String(format.format(values));
  };
}

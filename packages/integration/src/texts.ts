// SPDX-License-Identifier: MPL-2.0

/** A text by language; `en` is the one without a language. */
type Translated = Readonly<Record<'en' | 'de' | 'es', string>>;

export const GENERIC_NAME: Translated = {
  en: 'File Transfer',
  de: 'Dateiübertragung',
  es: 'Transferencia de archivos',
};

export const COMMENT: Translated = {
  en: 'Send files to another computer, directly and end-to-end encrypted',
  de: 'Dateien direkt und Ende-zu-Ende-verschlüsselt an einen anderen Computer senden',
  es: 'Envía archivos a otro equipo, directamente y cifrados de extremo a extremo',
};

export const SEND_WITH: Translated = {
  en: 'Send with KeibiDrop',
  de: 'Mit KeibiDrop senden',
  es: 'Enviar con KeibiDrop',
};

/** The lines of a key of a desktop entry in every language. */
export function translatedLines(key: string, { en, ...others }: Translated): string[] {
  return [`${key}=${en}`, ...Object.entries(others).map(([language, text]) => `${key}[${language}]=${text}`)];
}

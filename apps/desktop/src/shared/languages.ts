// SPDX-License-Identifier: MPL-2.0

export const LANGUAGES = ['en', 'de', 'es'] as const;
/** A language of the catalogue. */
export type Language = (typeof LANGUAGES)[number];

/** The first wanted language that the catalogue has, else English. */
export function languageOf(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const language = LANGUAGES.find((each) => each === tag.slice(0, 2).toLowerCase());
    if (language !== undefined) return language;
  }
  return 'en';
}

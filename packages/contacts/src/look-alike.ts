// SPDX-License-Identifier: MPL-2.0

// Names that a person may confuse: a short form of Unicode TS 39, for the scripts whose letters look like Latin ones.

/** Letters of each of these scripts look like letters of another. */
const SCRIPTS = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
);

/** Latin letters, each with its look-alikes. */
const ALIKE: readonly (readonly [latin: string, others: string])[] = [
  ['A', 'АΑᎪ'],
  ['B', 'ВΒᏴ'],
  ['C', 'СϹᏟ'],
  ['D', 'Ꭰ'],
  ['E', 'ЕΕᎬ'],
  ['G', 'ԌᏀ'],
  ['H', 'НΗᎻ'],
  ['J', 'ЈᎫ'],
  ['K', 'КΚᏦ'],
  ['L', 'ԼᏞ'],
  ['M', 'МΜᎷ'],
  ['N', 'Ν'],
  ['O', 'ОΟՕ0'],
  ['P', 'РΡᏢ'],
  ['R', 'Ꭱ'],
  ['S', 'ЅՏᏚ'],
  ['T', 'ТΤᎢ'],
  ['U', 'Ս'],
  ['V', 'ѴᏙ'],
  ['W', 'ԜᎳ'],
  ['X', 'ХΧ'],
  ['Y', 'УΥ'],
  ['Z', 'ΖᏃ'],
  ['a', 'аαɑ'],
  ['c', 'сϲ'],
  ['d', 'ԁ'],
  ['e', 'е'],
  ['g', 'ɡց'],
  ['h', 'һհ'],
  ['i', 'іιı'],
  ['j', 'јյ'],
  ['k', 'кκ'],
  ['l', 'I1|ІΙӀӏ'],
  ['n', 'ո'],
  ['o', 'оοօσ'],
  ['p', 'рρ'],
  ['q', 'ԛզ'],
  ['s', 'ѕ'],
  ['u', 'սυ'],
  ['v', 'ѵν'],
  ['w', 'ԝ'],
  ['x', 'хχ'],
  ['y', 'уγ'],
];
const LATIN_OF = new Map(ALIKE.flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)));

/** Two names with the same result look alike. Not for display. */
export function lookOf(name: string): string {
  const letters = [...name.normalize('NFKC')].map((letter) => LATIN_OF.get(letter) ?? letter).join('');
  return letters.toLowerCase().replaceAll('rn', 'm').replaceAll('vv', 'w').replace(/\s+/gu, ' ').trim();
}

/** Whether one of its words mixes scripts whose letters look alike. */
export function mixesScripts(name: string): boolean {
  return name.split(/[^\p{L}\p{M}]+/u).some((word) => SCRIPTS.filter((script) => script.test(word)).length > 1);
}

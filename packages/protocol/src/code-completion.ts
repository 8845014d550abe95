// SPDX-License-Identifier: MPL-2.0
import { wordlist } from '@scure/bip39/wordlists/english.js';

/** Codes that begin with `text`: completes its last word from the list that codes are drawn from, in the order of the list. */
export function completeCode(text: string, limit = 6): string[] {
  const begun = /^(\s*\d{1,9}(?:(?:\s*-\s*|\s+)[a-z0-9]+)*)(?:\s*-\s*|\s+)([a-z]*)$/.exec(text.toLowerCase());
  if (begun === null) return [];
  const [, before = '', last = ''] = begun;
  // An empty last word could be any of 2048.
  if (last === '') return [];
  const words = wordlist.filter((word) => word.startsWith(last) && word !== last).slice(0, limit);
  const spelled = before.trim().replace(/\s*-\s*|\s+/g, '-');
  return words.map((word) => `${spelled}-${word}`);
}

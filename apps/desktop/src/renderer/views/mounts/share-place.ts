// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/peer/local';

export type ShareEntryView = ReplyOf<'listShare'>['entries'][number];

/** The share of a place, and the names that lead from it to there. A place is `SHARE` or `SHARE/PATH`. */
export function partsOf(place: string): { share: string; names: string[] } {
  const [share = '', ...names] = place.split('/').filter((part) => part !== '');
  return { share, names };
}

/** Each folder on the way, the share itself first: what it is called, and its place. */
export function wayTo(place: string): { name: string; place: string }[] {
  const { share, names } = partsOf(place);
  return [share, ...names].map((name, i) => ({ name, place: [share, ...names].slice(0, i + 1).join('/') }));
}

/** Folders first, then by name as the language has it, `file 2` before `file 10`. */
export function inListOrder(entries: readonly ShareEntryView[], language: string): ShareEntryView[] {
  const { compare } = new Intl.Collator(language, { numeric: true });
  const rank = ({ type }: ShareEntryView) => (type === 'directory' ? 0 : 1);
  return [...entries].sort((a, b) => rank(a) - rank(b) || compare(a.name, b.name));
}

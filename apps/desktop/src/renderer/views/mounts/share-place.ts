// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/daemon/local';

export type ShareEntryView = ReplyOf<'listShare'>['entries'][number];

/** Splits a place, `SHARE` or `SHARE/PATH`, into the share and the names of the path. */
export function partsOf(place: string): { share: string; names: string[] } {
  const [share = '', ...names] = place.split('/').filter((part) => part !== '');
  return { share, names };
}

/** Name and place of each folder on the path, the share itself first. */
export function wayTo(place: string): { name: string; place: string }[] {
  const { share, names } = partsOf(place);
  return [share, ...names].map((name, i) => ({ name, place: [share, ...names].slice(0, i + 1).join('/') }));
}

/** Folders first, then by name in the language's order, `file 2` before `file 10`. */
export function inListOrder(entries: readonly ShareEntryView[], language: string): ShareEntryView[] {
  const { compare } = new Intl.Collator(language, { numeric: true });
  const rank = ({ type }: ShareEntryView) => (type === 'directory' ? 0 : 1);
  return [...entries].sort((a, b) => rank(a) - rank(b) || compare(a.name, b.name));
}

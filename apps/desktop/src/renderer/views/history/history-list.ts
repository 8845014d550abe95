// SPDX-License-Identifier: MPL-2.0
import type { HistoryEntryView } from '@keibidrop/daemon/local';
import { dayKey } from '../../texts/times.ts';

export type HistoryKind = 'all' | 'send' | 'receive';

/** Whether the entry was a text. Texts count 0 files; a file named "text" counts 1 (TransferFigures of the peer). */
export function isText({ what, files }: HistoryEntryView): boolean {
  return what === 'text' && files === 0;
}

/** Entries that contain every word of `search`, ignoring case. */
export function matching(
  entries: readonly HistoryEntryView[],
  { kind, search }: { kind: HistoryKind; search: string },
): HistoryEntryView[] {
  const words = search.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    if (kind !== 'all' && entry.kind !== kind) return false;
    const text = `${entry.what}\n${entry.with}\n${entry.place}`.toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export interface HistoryDay {
  readonly key: string;
  /** Time of its first entry, milliseconds since 1970. */
  readonly at: number;
  readonly entries: readonly HistoryEntryView[];
}

/** Groups entries by local day, in the same order. */
export function inDays(entries: readonly HistoryEntryView[]): HistoryDay[] {
  const days: { key: string; at: number; entries: HistoryEntryView[] }[] = [];
  for (const entry of entries) {
    const at = Date.parse(entry.time);
    const key = dayKey(at);
    const last = days[days.length - 1];
    if (last?.key === key) last.entries.push(entry);
    else days.push({ key, at, entries: [entry] });
  }
  return days;
}

/**
 * Path to send again; undefined if the entry does not determine it. Entries keep names only, and a name with a comma
 * could be several.
 */
export function pathToSendAgain({ kind, what, place }: HistoryEntryView): string | undefined {
  if (
    kind !== 'send' ||
    what === '' ||
    what === 'text' ||
    place === '' ||
    what.includes(', ') ||
    / and \d+ more$/.test(what)
  ) {
    return undefined;
  }
  const separator = place.includes('\\') && !place.includes('/') ? '\\' : '/';
  return `${place.replace(/[\\/]$/, '')}${separator}${what}`;
}

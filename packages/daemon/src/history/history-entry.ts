// SPDX-License-Identifier: MPL-2.0
import { dirname } from 'node:path';
import type { TransferSummary } from '@keibidrop/peer';
import type { KeibiError } from '@keibidrop/protocol';
import type { TransferStats } from '../transfers/transfer-stats.ts';
import type { HistoryEntry } from './history.ts';

/** A run that has ended. */
export interface EndedRun {
  kind: HistoryEntry['kind'];
  /** The destination, or the folder of the sent files. */
  place: string;
  /** The contact, if it is known before a peer connects. */
  contact?: string | undefined;
  /** The totals of its events. */
  figures: TransferStats;
  /** Milliseconds since 1970. */
  at: number;
  /** Set if it ran to its end. */
  summary?: TransferSummary | undefined;
  /** Set if it failed. */
  error?: KeibiError | undefined;
}

export function historyEntryOf({ kind, place, figures, at, summary, error, ...run }: EndedRun): HistoryEntry {
  const contact = run.contact ?? figures.last?.contact;
  const { files, bytes, seconds, resumedBytes } = summary ?? { ...figures.sums(), seconds: 0, resumedBytes: 0 };
  return {
    time: new Date(at).toISOString(),
    kind,
    what: figures.what,
    with: contact ?? figures.last?.peer ?? '',
    contact: contact !== undefined,
    place,
    path: figures.last?.path,
    files,
    bytes,
    seconds: Math.round(seconds * 1000) / 1000,
    bytesPerSecond: seconds > 0 ? Math.round((bytes - resumedBytes) / seconds) : 0,
    result: error?.code ?? 'OK',
  };
}

/** The folder of the sent files. */
export function placeOf(paths: readonly string[]): string {
  const [first] = paths;
  return first === undefined ? '' : dirname(first);
}

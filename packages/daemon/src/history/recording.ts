// SPDX-License-Identifier: MPL-2.0

import type { PeerEvent, TransferSummary } from '@keibidrop/peer';
import { errorOfFailures, KeibiError } from '@keibidrop/protocol';
import type { HistoryLimits } from '@keibidrop/settings';

import { TransferStats } from '../transfers/transfer-stats.ts';
import type { HistoryEntry } from './history.ts';
import { History } from './history.ts';
import { historyEntryOf } from './history-entry.ts';

export interface RecordingOptions {
  kind: HistoryEntry['kind'];
  /** The names of the sent files; a receive learns them from the offer. */
  what?: string;
  place: string;
  stateDir: string;
  limits: HistoryLimits;
  onEvent(event: PeerEvent): void;
}

/**
 * Runs one send or receive and adds it to the history, however it ends. A history that cannot be written is a warning.
 *
 * @param run  is given the listener for its events
 */
export async function recording<T extends TransferSummary>(
  { kind, what = '', place, stateDir, limits, onEvent }: RecordingOptions,
  run: (onEvent: (event: PeerEvent) => void) => Promise<T>,
): Promise<T> {
  const figures = new TransferStats(what);
  const keep = async (end: { summary?: TransferSummary; error?: KeibiError | undefined }) => {
    const history = new History(stateDir, async () => limits);
    await history.add(historyEntryOf({ kind, place, figures, at: Date.now(), ...end })).catch((reason) => {
      onEvent({ type: 'warning', message: KeibiError.from(reason, 'INTERNAL').message });
    });
  };
  try {
    let done: PeerEvent | undefined;
    const summary = await run((event) => {
      figures.take(event);
      // Held back, because a warning about the history must precede the last event of a run.
      if (event.type === 'done') done = event;
      else onEvent(event);
    });
    await keep({ summary, error: errorOfFailures(summary.failed) });
    if (done !== undefined) onEvent(done);
    return summary;
  } catch (reason) {
    await keep({ error: KeibiError.from(reason, 'INTERNAL') });
    throw reason;
  }
}

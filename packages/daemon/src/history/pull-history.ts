// SPDX-License-Identifier: MPL-2.0
import { basename } from 'node:path';
import type { ConnectedEvent } from '@keibidrop/peer';
import type { PulledEvent, PullFailedEvent, ShareEvent } from '@keibidrop/share';

import { namesOf } from '../transfers/transfer-stats.ts';
import type { HistoryEntry } from './history.ts';

/**
 * Records the pulls of a share's guests as sends in the history.
 *
 * @param shared  the shared path, absolute
 * @param keep  called with each pull that has ended
 * @returns  a function that takes the events of the share, in order
 */
export function pullHistory(shared: string, keep: (entry: HistoryEntry) => void): (event: ShareEvent) => void {
  const guests = new Map<number, ConnectedEvent>();
  const asked = new Map<number, string>();
  const ended = (event: PulledEvent | PullFailedEvent) => {
    const guest = guests.get(event.session);
    const what = asked.get(event.pull) ?? '';
    asked.delete(event.pull);
    keep({
      time: new Date().toISOString(),
      kind: 'send',
      what,
      with: guest?.contact ?? event.peer,
      contact: guest?.contact !== undefined,
      place: shared,
      path: guest?.path,
      ...figuresOf(event),
    });
  };
  return (event) => {
    if (event.type === 'connected') guests.set(event.session, event);
    else if (event.type === 'pull') {
      const names = event.paths.map((path) => basename(path === '' ? shared : path));
      asked.set(event.pull, namesOf(names, event.pathCount));
    } else if (event.type === 'pulled' || event.type === 'pullFailed') ended(event);
    else if (event.type === 'guestLeft' && !event.mayReturn) guests.delete(event.session);
  };
}

function figuresOf(
  event: PulledEvent | PullFailedEvent,
): Pick<HistoryEntry, 'files' | 'bytes' | 'seconds' | 'bytesPerSecond' | 'result'> {
  if (event.type === 'pullFailed') return { files: 0, bytes: 0, seconds: 0, bytesPerSecond: 0, result: event.code };
  const { files, bytes, resumedBytes, failed } = event;
  const seconds = Math.round(event.seconds * 1000) / 1000;
  const bytesPerSecond = seconds > 0 ? Math.round((bytes - resumedBytes) / seconds) : 0;
  return { files, bytes, seconds, bytesPerSecond, result: failed > 0 ? 'TRANSFER_INCOMPLETE' : 'OK' };
}

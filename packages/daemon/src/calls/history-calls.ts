// SPDX-License-Identifier: MPL-2.0
import type { DaemonParts } from '../daemon-parts.ts';
import type { LocalGroup } from '../local/local-calls.ts';

const LISTED = 100;

/** The calls about the history of transfers. */
export function historyCalls({ history }: DaemonParts): LocalGroup<'history' | 'clearHistory'> {
  return {
    history: async ({ limit = LISTED }) => ({ entries: await history.list(limit) }),
    clearHistory: async () => ({ removed: await history.clear() }),
  };
}

// SPDX-License-Identifier: MPL-2.0
import type { HistoryEntryView } from '@keibidrop/daemon/local';
import { useEffect, useReducer, useState } from 'react';
import type { ApiError } from '../../../shared/api.ts';
import { hasEnded } from '../../../shared/daemon-state.ts';
import { useApi } from '../../api/api-context.ts';
import { useDaemon } from '../../store/daemon-store.ts';
import { apiErrorOf } from '../../store/use-action.ts';

/** Above the default number of entries kept. */
const MOST = 5000;

export interface OwnHistory {
  /** The newest first; undefined until loaded. */
  readonly entries: readonly HistoryEntryView[] | undefined;
  readonly error: ApiError | undefined;
  reload(): void;
}

/** The history, reloaded whenever a transfer ends. */
export function useHistory(): OwnHistory {
  const api = useApi();
  const live = useDaemon(({ link }) => link.state === 'live');
  const ended = useDaemon(({ transfers }) => [...transfers.values()].filter(hasEnded).length);
  const [asked, reload] = useReducer((times: number) => times + 1, 0);
  const [known, setKnown] = useState<Omit<OwnHistory, 'reload'>>({ entries: undefined, error: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a finished transfer adds an entry.
  useEffect(() => {
    if (!live) return;
    const over = new AbortController();
    api.call('history', { limit: MOST }, { signal: over.signal }).then(
      ({ entries }) => setKnown({ entries, error: undefined }),
      (reason) => {
        if (!over.signal.aborted) setKnown(({ entries }) => ({ entries, error: apiErrorOf(reason) }));
      },
    );
    return () => over.abort();
  }, [api, live, ended, asked]);
  return { ...known, reload };
}

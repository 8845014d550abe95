// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from 'react';
import type { Api } from '../../../shared/api.ts';
import type { DaemonState } from '../../../shared/daemon-state.ts';
import { useDaemon } from '../../store/daemon-store.ts';
import { useRoute } from '../../store/route.ts';

const KEY = 'welcomed';

/**
 * Whether to show the welcome: once, and only without transfers, contacts or a requested view. `unknown` until the daemon's
 * state has loaded, so that no view flashes before the welcome.
 */
export function useFirstRun(api: Api): { first: boolean; unknown: boolean; welcomed(): void } {
  const link = useDaemon((state) => state.link.state);
  const live = link === 'live';
  const empty = useDaemon(isEmpty);
  const { asked } = useRoute();
  const [first, setFirst] = useState<boolean | undefined>(() => (isWelcomed() ? false : undefined));
  useEffect(() => {
    if (!live || isWelcomed()) return;
    if (!isEmpty(useDaemon.getState())) {
      setFirst(false);
      return;
    }
    const over = new AbortController();
    api.call('history', { limit: 1 }, { signal: over.signal }).then(
      ({ entries }) => setFirst(entries.length === 0),
      () => over.signal.aborted || setFirst(false), // No welcome; the page reports the error.
    );
    return () => over.abort();
  }, [api, live]);
  const welcomed = () => {
    localStorage.setItem(KEY, 'yes');
    setFirst(false);
  };
  // If another program has started something or opened a view, the user needs no welcome.
  return {
    first: first === true && empty && !asked,
    unknown: first === undefined && link !== 'lost' && !asked,
    welcomed,
  };
}

function isEmpty({ contacts, transfers, shares, questions }: DaemonState): boolean {
  return contacts.length === 0 && transfers.size === 0 && shares.length === 0 && questions.length === 0;
}

function isWelcomed(): boolean {
  return localStorage.getItem(KEY) !== null;
}

// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from 'react';
import type { Api } from '../../../shared/api.ts';
import type { DaemonState } from '../../../shared/daemon-state.ts';
import { useDaemon } from '../../store/daemon-store.ts';
import { useRoute } from '../../store/route.ts';

const KEY = 'welcomed';

/** Whether to welcome somebody: once, where nothing was sent or received yet and nobody is known, and no view is asked for. */
export function useFirstRun(api: Api): { first: boolean; welcomed(): void } {
  const live = useDaemon(({ link }) => link.state === 'live');
  const empty = useDaemon(isEmpty);
  const { asked } = useRoute();
  const [first, setFirst] = useState(false);
  useEffect(() => {
    if (!live || !isEmpty(useDaemon.getState()) || isWelcomed()) return;
    const over = new AbortController();
    api.call('history', { limit: 1 }, { signal: over.signal }).then(
      ({ entries }) => setFirst(entries.length === 0),
      () => {}, // Then nobody is welcomed, and the page says what is wrong.
    );
    return () => over.abort();
  }, [api, live]);
  const welcomed = () => {
    localStorage.setItem(KEY, 'yes');
    setFirst(false);
  };
  // Another program may begin something meanwhile, or ask for a view: whoever did knows the way.
  return { first: first && empty && !asked, welcomed };
}

function isEmpty({ contacts, transfers, shares, questions }: DaemonState): boolean {
  return contacts.length === 0 && transfers.size === 0 && shares.length === 0 && questions.length === 0;
}

function isWelcomed(): boolean {
  return localStorage.getItem(KEY) !== null;
}

// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from 'react';
import type { Api } from '../../../shared/api.ts';
import { useDaemon } from '../../store/daemon-store.ts';

const KEY = 'welcomed';

/** Whether to welcome somebody: once, where nothing was sent or received yet and nobody is known, and no view is asked for. */
export function useFirstRun(api: Api): { first: boolean; welcomed(): void } {
  const live = useDaemon(({ link }) => link.state === 'live');
  const [first, setFirst] = useState(false);
  useEffect(() => {
    if (!live || !mayBeFirst()) return;
    const over = new AbortController();
    api.call('history', { limit: 1 }, { signal: over.signal }).then(
      ({ entries }) => {
        if (entries.length > 0) remember();
        else setFirst(mayBeFirst());
      },
      () => {}, // Then nobody is welcomed, and the page says what is wrong.
    );
    return () => over.abort();
  }, [api, live]);
  return {
    first,
    welcomed: () => {
      remember();
      setFirst(false);
    },
  };
}

function mayBeFirst(): boolean {
  const { contacts, transfers, shares } = useDaemon.getState();
  const empty = contacts.length === 0 && transfers.size === 0 && shares.length === 0;
  return empty && location.hash === '' && localStorage.getItem(KEY) === null;
}

function remember(): void {
  localStorage.setItem(KEY, 'yes');
}

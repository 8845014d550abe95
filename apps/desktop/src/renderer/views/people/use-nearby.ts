// SPDX-License-Identifier: MPL-2.0
import type { NearbySenderView } from '@keibidrop/daemon/local';
import { useEffect, useState } from 'react';
import type { Api } from '../../../shared/api.ts';
import { useApi } from '../../api/api-context.ts';
import { useDaemon } from '../../store/daemon-store.ts';
import { merged } from './nearby-senders.ts';

/** Pause between two searches. */
const PAUSE_MS = 4000;

export interface Nearby {
  readonly senders: readonly NearbySenderView[];
  /** The first search has finished. */
  readonly looked: boolean;
}

/** Nearby waiting senders; searches repeatedly while the page is visible. */
export function useNearby(): Nearby {
  const api = useApi();
  const live = useDaemon(({ link }) => link.state === 'live');
  const [nearby, setNearby] = useState<Nearby>({ senders: [], looked: false });
  useEffect(() => {
    if (!live) return;
    const over = new AbortController();
    void lookAgain(api, over.signal, setNearby);
    return () => over.abort();
  }, [api, live]);
  return nearby;
}

async function lookAgain(api: Api, signal: AbortSignal, show: (change: (known: Nearby) => Nearby) => void) {
  while (!signal.aborted) {
    await untilSeen(signal);
    const found: NearbySenderView[] = [];
    try {
      for await (const sender of api.stream('nearby', {}, { signal })) {
        found.push(sender);
        show(({ senders, looked }) => ({ senders: merged(senders, [sender]), looked }));
      }
      // Senders that this search did not find are gone.
      show(() => ({ senders: merged([], found), looked: true }));
    } catch {
      // No network or no daemon; the page reports that elsewhere.
      if (!signal.aborted) show(() => ({ senders: [], looked: true }));
    }
    await pause(signal);
  }
}

function untilSeen(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible') return Promise.resolve();
  return new Promise((resolve) => {
    const check = () => {
      if (document.visibilityState !== 'visible' && !signal.aborted) return;
      document.removeEventListener('visibilitychange', check);
      signal.removeEventListener('abort', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    signal.addEventListener('abort', check);
  });
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, PAUSE_MS);
    function end() {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end);
  });
}

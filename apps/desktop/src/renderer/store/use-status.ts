// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/peer/local';
import { useEffect } from 'react';
import { create } from 'zustand';
import { useApi } from '../api/api-context.ts';
import { useDaemon } from './daemon-store.ts';

type Status = ReplyOf<'status'>;

const useKnown = create<{ status: Status | undefined }>()(() => ({ status: undefined }));

/**
 * What the daemon said of itself last; undefined until it has. Asked anew by whoever comes to need it, when it has come back, and after each
 * change of the settings.
 */
export function useStatus(): Status | undefined {
  const api = useApi();
  const live = useDaemon(({ link }) => link.state === 'live');
  const settings = useDaemon((state) => state.settings);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the settings are why it is asked anew.
  useEffect(() => {
    if (!live) return;
    const over = new AbortController();
    api.call('status', {}, { signal: over.signal }).then(
      (status) => useKnown.setState({ status }),
      () => {
        // The page says by itself when the daemon does not answer.
      },
    );
    return () => over.abort();
  }, [api, live, settings]);
  return useKnown(({ status }) => status);
}

/** The home folder of the daemon's user; '' until it is known. Somebody who uses the status has it asked. */
export function useHome(): string {
  return useKnown(({ status }) => status?.home ?? '');
}

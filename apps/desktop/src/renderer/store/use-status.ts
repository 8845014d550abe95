// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/daemon/local';
import { useEffect } from 'react';
import { create } from 'zustand';
import { useApi } from '../api/api-context.ts';
import { useDaemon } from './daemon-store.ts';

type Status = ReplyOf<'status'>;

const useKnown = create<{ status: Status | undefined }>()(() => ({ status: undefined }));

/**
 * The daemon's last status; undefined until it answers. Requested when a component first needs it, after a reconnect,
 * and after each change of the settings.
 */
export function useStatus(): Status | undefined {
  const api = useApi();
  const live = useDaemon(({ link }) => link.state === 'live');
  const settings = useDaemon((state) => state.settings);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the settings are why it is requested again.
  useEffect(() => {
    if (!live) return;
    const over = new AbortController();
    api.call('status', {}, { signal: over.signal }).then(
      (status) => useKnown.setState({ status }),
      () => {
        // The page reports an unreachable daemon elsewhere.
      },
    );
    return () => over.abort();
  }, [api, live, settings]);
  return useKnown(({ status }) => status);
}

/** Home folder of the daemon's user; '' until known. Needs a component that uses `useStatus`. */
export function useHome(): string {
  return useKnown(({ status }) => status?.home ?? '');
}

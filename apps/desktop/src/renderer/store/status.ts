// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/peer/local';
import { useEffect, useState } from 'react';
import { useApi } from '../api/api-context.ts';
import { useDaemon } from './daemon-store.ts';

/** What the daemon says of itself, asked again whenever a setting is another; undefined until it has answered. */
export function useStatus(): ReplyOf<'status'> | undefined {
  const api = useApi();
  const live = useDaemon(({ link }) => link.state === 'live');
  const settings = useDaemon((state) => state.settings);
  const [status, setStatus] = useState<ReplyOf<'status'>>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: other settings are another status.
  useEffect(() => {
    if (!live) return;
    const over = new AbortController();
    api.call('status', {}, { signal: over.signal }).then(setStatus, () => {}); // That it fails is told by the link.
    return () => over.abort();
  }, [api, live, settings]);
  return status;
}

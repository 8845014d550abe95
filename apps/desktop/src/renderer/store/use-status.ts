// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/peer/local';
import { useEffect, useState } from 'react';
import { useApi } from '../api/api-context.ts';
import { useDaemon } from './daemon-store.ts';

/** What the daemon says of itself; undefined until it has. Asked anew when it has come back, and after each change of the settings. */
export function useStatus(): ReplyOf<'status'> | undefined {
  const api = useApi();
  const live = useDaemon(({ link }) => link.state === 'live');
  const settings = useDaemon((state) => state.settings);
  const [status, setStatus] = useState<ReplyOf<'status'>>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the settings are why it is asked anew.
  useEffect(() => {
    if (!live) return;
    const over = new AbortController();
    api.call('status', {}, { signal: over.signal }).then(setStatus, () => {
      // The page says by itself when the daemon does not answer.
    });
    return () => over.abort();
  }, [api, live, settings]);
  return status;
}

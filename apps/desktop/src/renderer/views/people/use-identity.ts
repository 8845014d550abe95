// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/peer/local';
import { useCallback, useEffect, useState } from 'react';
import type { ApiError } from '../../../shared/api.ts';
import { useApi } from '../../api/api-context.ts';
import { apiErrorOf } from '../../store/act.ts';
import { useDaemon } from '../../store/daemon-store.ts';

export type Identity = ReplyOf<'identity'>;

export type OwnIdentity =
  | { state: 'asked' }
  | { state: 'known'; identity: Identity }
  /** A passphrase keeps it. */
  | { state: 'locked' }
  | { state: 'failed'; error: ApiError };

/** Who this peer is. Asked anew whenever the daemon has come back. */
export function useIdentity(): OwnIdentity & { unlock(passphrase: string): Promise<void> } {
  const api = useApi();
  const live = useDaemon(({ link }) => link.state === 'live');
  const [own, setOwn] = useState<OwnIdentity>({ state: 'asked' });
  useEffect(() => {
    if (!live) return;
    const over = new AbortController();
    api.call('identity', {}, { signal: over.signal }).then(
      (identity) => setOwn({ state: 'known', identity }),
      (reason) => {
        const error = apiErrorOf(reason);
        if (!over.signal.aborted) setOwn(error.code === 'IDENTITY_LOCKED' ? { state: 'locked' } : { state: 'failed', error });
      },
    );
    return () => over.abort();
  }, [api, live]);
  const unlock = useCallback(
    async (passphrase: string) => setOwn({ state: 'known', identity: await api.call('unlock', { passphrase }) }),
    [api],
  );
  return { ...own, unlock };
}

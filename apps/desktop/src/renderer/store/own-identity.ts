// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/daemon/local';
import { useCallback, useEffect } from 'react';
import { create } from 'zustand';
import type { Api, ApiError } from '../../shared/api.ts';
import { useApi } from '../api/api-context.ts';
import { useDaemon } from './daemon-store.ts';
import { apiErrorOf } from './use-action.ts';

export type Identity = ReplyOf<'identity'>;

export type OwnIdentity =
  | { state: 'asked' }
  | { state: 'known'; identity: Identity }
  /** A passphrase locks the identity. */
  | { state: 'locked' }
  | { state: 'failed'; error: ApiError };

const useOwn = create<{ own: OwnIdentity }>()(() => ({ own: { state: 'asked' } }));

/** This peer's identity. Requested when needed and again after a reconnect; the daemon creates one if there is none. */
export function useIdentity(wanted = true): OwnIdentity {
  const api = useApi();
  const live = useDaemon(({ link }) => link.state === 'live');
  const renewed = useDaemon(({ renewedIdentity }) => renewedIdentity);
  const own = useOwn((store) => store.own);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect runs again after a rotation.
  useEffect(() => {
    if (!live || !wanted) return;
    const over = new AbortController();
    void ask(api, over.signal);
    return () => over.abort();
  }, [api, live, wanted, renewed]);
  return own;
}

/** @returns a function that unlocks the identity with its passphrase; it throws an ApiError */
export function useUnlock(): (passphrase: string) => Promise<void> {
  const api = useApi();
  return useCallback(
    async (passphrase) => {
      const identity = await api.call('unlock', { passphrase });
      useOwn.setState({ own: { state: 'known', identity } });
    },
    [api],
  );
}

async function ask(api: Api, signal: AbortSignal): Promise<void> {
  try {
    const identity = await api.call('identity', {}, { signal });
    useOwn.setState({ own: { state: 'known', identity } });
  } catch (reason) {
    const error = apiErrorOf(reason);
    if (signal.aborted) return;
    useOwn.setState({ own: error.code === 'IDENTITY_LOCKED' ? { state: 'locked' } : { state: 'failed', error } });
  }
}

// SPDX-License-Identifier: MPL-2.0
import { useCallback, useRef, useState } from 'react';
import { ApiError } from '../../shared/api.ts';

type Work = (signal: AbortSignal) => Promise<unknown>;

/** State of an action that a button starts. */
export interface ActionRunner {
  /** Resolves to whether it worked; a failure stays in `error` until the next call. While one runs, further calls do nothing. */
  act(work: Work): Promise<boolean>;
  /** As `act`, but a call made while another runs waits for it. For settings, where no choice may be lost. */
  follow(work: Work): Promise<boolean>;
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  forget(): void;
}

/** For buttons that call the daemon. When the component unmounts, a running call continues without it. */
export function useAction(): ActionRunner {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const current = useRef<Promise<boolean>>(undefined);
  const begin = useCallback((work: Work, before?: Promise<boolean>) => {
    const run = async () => {
      await before;
      setBusy(true);
      setError(undefined);
      try {
        await work(new AbortController().signal);
        return true;
      } catch (reason) {
        setError(apiErrorOf(reason));
        return false;
      }
    };
    const mine = run().finally(() => {
      if (current.current !== mine) return;
      current.current = undefined;
      setBusy(false);
    });
    current.current = mine;
    return mine;
  }, []);
  const act = useCallback(async (work: Work) => (current.current === undefined ? begin(work) : false), [begin]);
  const follow = useCallback((work: Work) => begin(work, current.current), [begin]);
  return { act, follow, busy, error, forget: () => setError(undefined) };
}

/** Turns any thrown value into an ApiError. */
export function apiErrorOf(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError('INTERNAL', String(reason));
}

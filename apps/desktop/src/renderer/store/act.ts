// SPDX-License-Identifier: MPL-2.0
import { useCallback, useRef, useState } from 'react';
import { ApiError } from '../../shared/api.ts';

/** What a press of a button has come to. */
export interface Acting {
  /** Resolves to whether it worked; what did not is in `error` until the next time. One at a time: a second press does nothing. */
  act(work: (signal: AbortSignal) => Promise<unknown>): Promise<boolean>;
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  forget(): void;
}

/** For buttons that ask the daemon for something. What is under way when the component goes is not waited for, but goes on. */
export function useAct(): Acting {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const current = useRef<AbortController>(undefined);
  const act = useCallback(async (work: (signal: AbortSignal) => Promise<unknown>) => {
    if (current.current !== undefined) return false;
    const mine = new AbortController();
    current.current = mine;
    setBusy(true);
    setError(undefined);
    try {
      await work(mine.signal);
      return true;
    } catch (reason) {
      setError(apiErrorOf(reason));
      return false;
    } finally {
      if (current.current === mine) current.current = undefined;
      setBusy(false);
    }
  }, []);
  return { act, busy, error, forget: () => setError(undefined) };
}

/** Anything thrown, as the failure it is shown as. */
export function apiErrorOf(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError('INTERNAL', String(reason));
}

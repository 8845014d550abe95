// SPDX-License-Identifier: MPL-2.0
import { useCallback, useRef, useState } from 'react';
import { ApiError } from '../../shared/api.ts';

type Work = (signal: AbortSignal) => Promise<unknown>;

/** What a press of a button has come to. */
export interface Acting {
  /** Resolves to whether it worked; what did not is in `error` until the next time. One at a time: a second press does nothing. */
  act(work: Work): Promise<boolean>;
  /** The same for what is chosen, not pressed: a choice made while another is under way comes after it, and is not lost. */
  follow(work: Work): Promise<boolean>;
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  forget(): void;
}

/** For buttons that ask the daemon for something. What is under way when the component goes is not waited for, but goes on. */
export function useAct(): Acting {
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

/** Anything thrown, as the failure it is shown as. */
export function apiErrorOf(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError('INTERNAL', String(reason));
}

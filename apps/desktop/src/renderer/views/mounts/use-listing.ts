// SPDX-License-Identifier: MPL-2.0
import { useEffect, useReducer, useState } from 'react';
import type { Api, ApiError } from '../../../shared/api.ts';
import { useApi } from '../../api/api-context.ts';
import { apiErrorOf } from '../../store/use-action.ts';
import type { ShareEntryView } from './share-place.ts';

export interface Listing {
  /** Entries read so far; during a reload also those of the last listing. */
  readonly entries: readonly ShareEntryView[];
  /** Number of entries that cannot be listed. */
  readonly leftOut: number;
  readonly reading: boolean;
  /** Changes in some subfolders are not reported. */
  readonly incomplete: boolean;
  readonly error: ApiError | undefined;
}

const NOTHING: Listing = { entries: [], leftOut: 0, reading: true, incomplete: false, error: undefined };
/** Changes arrive in bursts. */
const SETTLE_MS = 300;

/** Entries of a shared folder, shown as they arrive and reloaded when the folder changes. */
export function useListing(place: string): Listing & { again(): void } {
  const api = useApi();
  const [asked, again] = useReducer((times: number) => times + 1, 0);
  const [listing, setListing] = useState(NOTHING);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the user has asked for a reload.
  useEffect(() => {
    const over = new AbortController();
    void follow(api, place, over.signal, setListing);
    return () => over.abort();
  }, [api, place, asked]);
  return { ...listing, again };
}

type Show = (change: (listing: Listing) => Listing) => void;

async function follow(api: Api, path: string, signal: AbortSignal, show: Show): Promise<void> {
  try {
    const changes = api.stream('watchShare', { path }, { signal })[Symbol.asyncIterator]();
    // Changes after the first reply are reported, so a listing read from now on stays current.
    let { value: reported } = await changes.next();
    while (reported !== undefined) {
      const { incomplete } = reported;
      show((listing) => ({ ...listing, reading: true, incomplete }));
      await read(api, path, signal, show);
      ({ value: reported } = await changes.next());
      if (reported !== undefined) await settled(signal);
    }
  } catch (reason) {
    if (!signal.aborted) show((listing) => ({ ...listing, reading: false, error: apiErrorOf(reason) }));
  }
}

async function read(api: Api, path: string, signal: AbortSignal, show: Show): Promise<void> {
  let entries: ShareEntryView[] = [];
  let leftOut = 0;
  for await (const part of api.stream('listShare', { path }, { signal })) {
    entries = [...entries, ...part.entries];
    leftOut += part.leftOut;
    const known = { entries, leftOut };
    // Keep the old rows until the reload is complete, so that rows do not vanish and return.
    show((listing) => (listing.entries.length > entries.length ? listing : { ...listing, ...known }));
  }
  show((listing) => ({ ...listing, entries, leftOut, reading: false, error: undefined }));
}

function settled(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SETTLE_MS);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

// SPDX-License-Identifier: MPL-2.0
import { useEffect, useReducer, useState } from 'react';
import type { Api, ApiError } from '../../../shared/api.ts';
import { useApi } from '../../api/api-context.ts';
import { apiErrorOf } from '../../store/act.ts';
import type { ShareEntryView } from './share-place.ts';

export interface Listing {
  /** What was read so far, or of the time before while it is read anew. */
  readonly entries: readonly ShareEntryView[];
  /** What is there and cannot be told. */
  readonly leftOut: number;
  readonly reading: boolean;
  /** Changes in a part of it are not told. */
  readonly incomplete: boolean;
  readonly error: ApiError | undefined;
}

const NOTHING: Listing = { entries: [], leftOut: 0, reading: true, incomplete: false, error: undefined };
/** Changes come in swarms. */
const SETTLE_MS = 300;

/** What a folder of a share holds, part by part as it comes, and read anew when something in it changes. */
export function useListing(place: string): Listing & { again(): void } {
  const api = useApi();
  const [asked, again] = useReducer((times: number) => times + 1, 0);
  const [listing, setListing] = useState(NOTHING);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a person has asked to read it anew.
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
    // From the first reply on nothing is missed: what is read after it is up to date.
    let { value: told } = await changes.next();
    while (told !== undefined) {
      const { incomplete } = told;
      show((listing) => ({ ...listing, reading: true, incomplete }));
      await read(api, path, signal, show);
      ({ value: told } = await changes.next());
      if (told !== undefined) await settled(signal);
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
    // What was there before stays until all is read: rows must not vanish and come back.
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

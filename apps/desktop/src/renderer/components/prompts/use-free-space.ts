// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from 'react';
import { useApi } from '../../api/api-context.ts';

/** Pause in typing before the folder is checked. */
const PAUSE_MS = 250;

/** Free bytes of a folder; undefined until known. The second argument is the value known for its folder `of`. */
export function useFreeSpace(folder: string, reported: { of: string; bytes: number | undefined }): number | undefined {
  const api = useApi();
  const [found, setFound] = useState<{ folder: string; bytes: number | undefined }>();
  useEffect(() => {
    if (folder === reported.of) return;
    const over = new AbortController();
    const report = (bytes: number | undefined) => {
      if (!over.signal.aborted) setFound({ folder, bytes });
    };
    const timer = setTimeout(() => {
      api.call('freeSpace', { path: folder }, { signal: over.signal }).then(
        ({ bytes }) => report(bytes),
        () => report(undefined), // An unusable folder is reported when it is used.
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [api, folder, reported.of]);
  if (folder === reported.of) return reported.bytes;
  return found?.folder === folder ? found.bytes : undefined;
}

// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from 'react';
import { useApi } from '../api/api-context.ts';
import { useDaemon } from './daemon-store.ts';

/** Where what is received goes unless somebody says otherwise; undefined while the daemon has not told. */
export function useSavePath(): string | undefined {
  const api = useApi();
  const live = useDaemon(({ link }) => link.state === 'live');
  const setting = useDaemon(({ settings }) => settings.find(({ key }) => key === 'save_path')?.value);
  const [path, setPath] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another setting is another path.
  useEffect(() => {
    if (!live) return;
    const over = new AbortController();
    api.call('status', {}, { signal: over.signal }).then(
      ({ savePath }) => setPath(savePath),
      () => {}, // The link says so already.
    );
    return () => over.abort();
  }, [api, live, setting]);
  return path;
}

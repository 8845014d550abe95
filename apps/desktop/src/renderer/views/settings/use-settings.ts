// SPDX-License-Identifier: MPL-2.0
import type { SettingView } from '@keibidrop/peer/local';
import { useEffect } from 'react';
import { useApi } from '../../api/api-context.ts';
import { type Acting, useAct } from '../../store/act.ts';
import { useDaemon } from '../../store/daemon-store.ts';

/** The daemon's settings by key; empty until loaded. */
export function useSettings(): { settings: ReadonlyMap<string, SettingView>; asking: Acting } {
  const api = useApi();
  const asking = useAct();
  const { act } = asking;
  const live = useDaemon(({ link }) => link.state === 'live');
  const told = useDaemon((state) => state.settings);
  useEffect(() => {
    if (!live) return;
    void act(async (signal) => {
      const { settings } = await api.call('settings', {}, { signal });
      useDaemon.setState({ settings });
    });
  }, [act, api, live]);
  return { settings: new Map(told.map((setting) => [setting.key, setting])), asking };
}

// SPDX-License-Identifier: MPL-2.0
import type { SettingView } from '@keibidrop/daemon/local';
import { useEffect } from 'react';
import { useApi } from '../../api/api-context.ts';
import { useDaemon } from '../../store/daemon-store.ts';
import { type ActionRunner, useAction } from '../../store/use-action.ts';

/** The daemon's settings by key; empty until loaded. */
export function useSettings(): { settings: ReadonlyMap<string, SettingView>; asking: ActionRunner } {
  const api = useApi();
  const asking = useAction();
  const { act } = asking;
  const live = useDaemon(({ link }) => link.state === 'live');
  const reported = useDaemon((state) => state.settings);
  useEffect(() => {
    if (!live) return;
    void act(async (signal) => {
      const { settings } = await api.call('settings', {}, { signal });
      useDaemon.setState({ settings });
    });
  }, [act, api, live]);
  return { settings: new Map(reported.map((setting) => [setting.key, setting])), asking };
}

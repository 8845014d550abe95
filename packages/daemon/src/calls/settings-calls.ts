// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { changeSettings, settingsInForce } from '@keibidrop/settings';
import type { DaemonParts } from '../daemon-parts.ts';
import type { LocalGroup } from '../local/local-calls.ts';

/** The settings of the file, which apply from the next transfer on. */
export function settingsCalls({ settings: query, events }: DaemonParts): LocalGroup<'settings' | 'changeSettings'> {
  const reply = async () => ({ settings: await settingsInForce(query) });
  return {
    settings: reply,

    async changeSettings({ values }) {
      const keys = Object.keys(values);
      if (keys.length === 0) throw new KeibiError('USAGE', 'Say which setting to change.');
      await changeSettings(query, values);
      const changed = await reply();
      events.emit(0, { happened: { $case: 'settings', value: changed } });
      return changed;
    },
  };
}

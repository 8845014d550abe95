// SPDX-License-Identifier: MPL-2.0

// The settings of one run, from flags, environment and config.toml; the directories of this user; and the private files,
// locks and errors with which every package stores its state. It opens no connection.

export {
  changeSettings,
  type HistoryLimits,
  journalsOf,
  knownIn,
  loadSettings,
  type SealedPlace,
  type SettingFlags,
  type Settings,
  type SettingsQuery,
  settingsInForce,
  stateDirOf,
} from './config.ts';
export { configDirOf } from './config-directory.ts';
export { expandHome } from './home-folder.ts';
export type { ListenAddress } from './listen-address.ts';
export { loadRelaySettings } from './relay-settings.ts';

// SPDX-License-Identifier: MPL-2.0

/** The keys of config.toml that this page can change. `log` is missing: only a relay reads it. */
export type SettingKey =
  | 'save_path'
  | 'label'
  | 'rendezvous'
  | 'discovery'
  | 'listen'
  | 'patience'
  | 'limit'
  | 'code_length'
  | 'history_entries'
  | 'history_days';

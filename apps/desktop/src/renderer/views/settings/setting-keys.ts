// SPDX-License-Identifier: MPL-2.0

/** The settings of config.toml that are changed here. `log` is not: only a relay reads it. */
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

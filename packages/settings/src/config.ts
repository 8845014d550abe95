// SPDX-License-Identifier: MPL-2.0
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Discovery, HostPort } from '@keibidrop/discovery';
import { KeibiError } from '@keibidrop/protocol';
import envPaths from 'env-paths';
import { configDirOf } from './config-directory.ts';
import { type ConfigChanges, changeConfigFile } from './config-file.ts';
import { expandHome } from './home-folder.ts';
import type { ListenAddress } from './listen-address.ts';
import { type ConfigFile, type Found, finderOf, parsed, readConfigFile, type Source } from './setting-sources.ts';
import {
  ANY_HOST,
  type LogLevel,
  parseAmount,
  parseCodeLength,
  parseDiscovery,
  parseDuration,
  parseHostPort,
  parseLabel,
  parseListen,
  parseLogLevel,
  parsePath,
  parseRate,
  parseRendezvous,
} from './setting-values.ts';

/** The port a sender listens on by default (docs/cli.md). */
export const DEFAULT_PORT = 26431;

const HISTORY_ENTRIES = 1000;
const HISTORY_DAYS = 365;

/** How much of the history is kept. */
export interface HistoryLimits {
  /** 0: nothing is written, and existing entries are removed. */
  entries: number;
  days: number;
}

/** A folder of sealed files, and the file with their key. Both are created when needed. */
export interface SealedPlace {
  readonly folder: string;
  readonly keyFile: string;
}

/** The settings of one run: flags beat the environment, which beats the file, which beats the defaults. */
export interface Settings {
  /** The directory of `config.toml`; absolute, and it may be missing. */
  configDir: string;
  /** Absent: only the rendezvous that each sender embeds. */
  rendezvous: string | undefined;
  listen: ListenAddress;
  /** The peer's address, if `--connect` names it. */
  connect: HostPort | undefined;
  /** The folder of received files; absolute, and it may be missing. */
  savePath: string;
  discovery: Discovery;
  log: LogLevel;
  limitBytesPerSecond: number | undefined;
  /** How long a receiver tries to reconnect to a lost sender; absent: the default of `receive`. */
  patienceMs: number | undefined;
  /** Words of a new code. */
  codeLength: number;
  /** This peer's display name. */
  label: string;
  /** Limits of the history. */
  history: HistoryLimits;
}

/** Values from a command line, as typed; absent ones fall back to the environment. */
export interface SettingFlags {
  config?: string | undefined;
  rendezvous?: string | undefined;
  listen?: string | undefined;
  connect?: string | undefined;
  out?: string | undefined;
  discovery?: string | undefined;
  limit?: string | undefined;
  patience?: string | undefined;
  codeLength?: string | undefined;
}

/** The sources of each setting. The file may contain only the keys of this table. */
const sources: Readonly<Record<SettingName, Source<SettingFlags>>> = {
  rendezvous: { key: 'rendezvous', env: 'KD_RENDEZVOUS', flag: 'rendezvous' },
  listen: { key: 'listen', env: 'KD_LISTEN', flag: 'listen' },
  connect: { flag: 'connect' },
  savePath: { key: 'save_path', env: 'KD_SAVE_PATH', flag: 'out' },
  discovery: { key: 'discovery', env: 'KD_DISCOVERY', flag: 'discovery' },
  log: { key: 'log', env: 'KD_LOG' },
  limit: { key: 'limit', flag: 'limit' },
  patience: { key: 'patience', env: 'KD_PATIENCE', flag: 'patience' },
  codeLength: { key: 'code_length', flag: 'codeLength' },
  label: { key: 'label' },
  historyEntries: { key: 'history_entries' },
  historyDays: { key: 'history_days' },
};

type SettingName =
  | 'rendezvous'
  | 'listen'
  | 'connect'
  | 'savePath'
  | 'discovery'
  | 'log'
  | 'limit'
  | 'patience'
  | 'codeLength'
  | 'label'
  | 'historyEntries'
  | 'historyDays';

/** The keys of the file, outside of its tables. */
const settingKeys = Object.values(sources).flatMap(({ key }) => key ?? []);

export interface SettingsQuery {
  flags: SettingFlags;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

/**
 * Reads the settings of one run.
 *
 * @param env  the environment; an empty variable counts as not set
 * @param cwd  base of relative paths; those of the file are relative to its directory
 * @throws USAGE for a flag, CONFIG_INVALID for a variable or a line of the file, each naming the place
 */
export async function loadSettings(options: SettingsQuery): Promise<Settings> {
  const configDir = configDirOf(options);
  return settingsIn(await readConfigFile(configFileIn(configDir), settingKeys), options, configDir);
}

function settingsIn(file: ConfigFile, { flags, env, cwd }: SettingsQuery, configDir: string): Settings {
  const find = finderOf(sources, { flags, env, file });
  const value = <T>(name: SettingName, parse: (text: string) => T): T | undefined => parsed(find(name), parse);

  return {
    configDir,
    rendezvous: value('rendezvous', parseRendezvous),
    listen: listenAddress(find('listen')),
    connect: value('connect', parseHostPort),
    savePath: absolutePath(find('savePath'), { cwd, configDir }),
    discovery: value('discovery', parseDiscovery) ?? 'auto',
    log: value('log', parseLogLevel) ?? 'warn',
    limitBytesPerSecond: value('limit', parseRate),
    patienceMs: value('patience', parseDuration),
    codeLength: value('codeLength', parseCodeLength) ?? 2,
    label: value('label', parseLabel) ?? ownName(),
    history: {
      entries: value('historyEntries', parseAmount) ?? HISTORY_ENTRIES,
      days: value('historyDays', parseAmount) ?? HISTORY_DAYS,
    },
  };
}

/** One key of the file: its value from any source, and the source that overrides the file. */
export interface SettingInForce {
  key: string;
  /** Absent: the default. */
  value: string | undefined;
  /** The option or variable that overrides the file. */
  fixed: string | undefined;
}

/** Every setting that the file may have. Throws as `loadSettings`. */
export async function settingsInForce(options: SettingsQuery): Promise<SettingInForce[]> {
  const { flags, env } = options;
  await loadSettings(options);
  const file = await readConfigFile(configFileIn(configDirOf(options)), settingKeys);
  const find = finderOf(sources, { flags, env, file });
  return (Object.keys(sources) as SettingName[]).flatMap((name) => {
    const { key } = sources[name];
    const found = find(name);
    return key === undefined
      ? []
      : [{ key, value: found?.text, fixed: found === undefined || found.from === 'file' ? undefined : found.place }];
  });
}

/**
 * Changes keys of the file; '' removes one.
 *
 * @throws USAGE for an unknown key; CONFIG_INVALID for a bad value, which changes nothing, and as changeConfigFile
 */
export async function changeSettings(options: SettingsQuery, changes: ConfigChanges): Promise<void> {
  for (const key of Object.keys(changes)) {
    if (!settingKeys.includes(key)) {
      throw new KeibiError('USAGE', `${key} is not a setting. The settings are ${settingKeys.join(', ')}.`);
    }
  }
  checkSavePath(changes.save_path);
  const path = configFileIn(configDirOf(options));
  await changeConfigFile(path, changes, async (candidate) => {
    settingsIn(await readConfigFile(candidate, settingKeys), { ...options, flags: {}, env: {} }, dirname(path));
  });
}

/** Requires an absolute path, because the user sees no base directory for a relative one. */
function checkSavePath(text: string | undefined): void {
  if (text === undefined || text === '' || isAbsolute(expandHome(text))) return;
  throw new KeibiError('CONFIG_INVALID', `save_path must begin with / or ~/; it is ${JSON.stringify(text)}.`);
}

/** The directory of state files for one configuration directory; absolute, and it may be missing. */
export function stateDirOf(configDir: string): string {
  const { config, log } = envPaths('keibidrop', { suffix: '' });
  return isSameDirectory(configDir, config) ? log : join(configDir, 'state');
}

/** True also if one is a symlink to the other, or a bind mount of it. */
function isSameDirectory(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    const [first, second] = [statSync(one), statSync(other)];
    return first.ino === second.ino && first.dev === second.dev;
  } catch {
    return false;
  }
}

/** The secrets of guests and sharers (PROTOCOL 3.2). The key file lies apart from the files that it opens. */
export function knownIn(configDir: string): { guests: SealedPlace; shares: SealedPlace } {
  const [stateDir, keyFile] = [stateDirOf(configDir), join(configDir, 'known.key')];
  return {
    guests: { folder: join(stateDir, 'known-guests'), keyFile },
    shares: { folder: join(stateDir, 'known-shares'), keyFile },
  };
}

/** The journals of writes into shares, as in ShareOptions. */
export function journalsOf(stateDir: string): string {
  return join(stateDir, 'puts');
}

export function configFileIn(configDir: string): string {
  return join(configDir, 'config.toml');
}

/**
 * A port from a flag is mandatory. A port from the environment or the file is a preference, so that two senders can run side by
 * side.
 */
function listenAddress(found: Found | undefined): ListenAddress {
  const address = parsed(found, parseListen) ?? { host: ANY_HOST, port: DEFAULT_PORT };
  return { ...address, orAnyPort: found?.from !== 'flag' };
}

function absolutePath(found: Found | undefined, base: { cwd: string; configDir: string }): string {
  const path = parsed(found, parsePath) ?? '.';
  // The shell expands the ~ of a flag or a variable, but not of the file.
  return found?.from === 'file' ? resolve(base.configDir, expandHome(path)) : resolve(base.cwd, path);
}

/** The machine's own name, shortened to MAX_LABEL_BYTES. */
function ownName(): string {
  try {
    return parseLabel(hostname());
  } catch {
    return 'unnamed';
  }
}

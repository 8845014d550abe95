// SPDX-License-Identifier: MPL-2.0
import { readFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { HostPort } from '@keibidrop/discovery';
import { KeibiError } from '@keibidrop/protocol';
import envPaths from 'env-paths';
import { parse as parseToml, TomlError } from 'smol-toml';
import type { ListenAddress, ReachOptions } from './api.ts';
import {
  ANY_HOST,
  BadValue,
  type LogLevel,
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

/** The port a sender listens on unless told otherwise (DESIGN 7). */
export const DEFAULT_PORT = 26431;

/** What holds for every command of one run: flags beat the environment, which beats the file, which beats the defaults. */
export interface Settings {
  /** Where `config.toml` is looked for; absolute, and perhaps not there. */
  configDir: string;
  /** Absent: only the rendezvous that each sender embeds. */
  rendezvous: string | undefined;
  listen: ListenAddress;
  /** The peer's address, if `--connect` names it. */
  connect: HostPort | undefined;
  /** Where received files go; absolute, and perhaps not there. */
  savePath: string;
  discovery: ReachOptions['discovery'];
  log: LogLevel;
  limitBytesPerSecond: number | undefined;
  /** How long a receiver tries to come back to a sender it has lost; absent: as long as `receive` does by itself. */
  patienceMs: number | undefined;
  /** Words of a new code. */
  codeLength: number;
  /** What this peer calls itself. */
  label: string;
}

/** Values as people typed them on a command line; absent ones fall through to the environment. */
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

/** Where a value may come from. The keys of this table are the only ones the file may have. */
const sources: Readonly<Record<SettingName, { key?: string; env?: string; flag?: keyof SettingFlags }>> = {
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
  | 'label';

/** A value as text, and what to call the place it came from in an error. */
interface Found {
  text: string;
  from: 'flag' | 'env' | 'file';
  place: string;
}

/**
 * Reads the settings of one run.
 *
 * @param env  the environment; an empty variable counts as not set
 * @param cwd  what relative paths are relative to; those of the file are relative to its directory
 * @throws USAGE for a flag, CONFIG_INVALID for a variable or a line of the file, each naming the place
 */
export async function loadSettings(options: {
  flags: SettingFlags;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}): Promise<Settings> {
  const { flags, env, cwd } = options;
  const configDir = resolve(cwd, flags.config || env.KD_CONFIG_DIR || envPaths('keibidrop', { suffix: '' }).config);
  const file = await readConfigFile(join(configDir, 'config.toml'));
  const find = (name: SettingName): Found | undefined => {
    const { key, env: variable, flag } = sources[name];
    const typed = flag && flags[flag];
    if (flag && typed !== undefined) return { text: typed, from: 'flag', place: flagName(flag) };
    const set = variable && env[variable];
    if (variable && set) return { text: set, from: 'env', place: variable };
    return key === undefined ? undefined : file.get(key);
  };
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
  };
}

/** A port named by a flag is meant; one of the environment or the file is a preference, so that two senders can run side by side. */
function listenAddress(found: Found | undefined): ListenAddress {
  const address = parsed(found, parseListen) ?? { host: ANY_HOST, port: DEFAULT_PORT };
  return { ...address, orAnyPort: found?.from !== 'flag' };
}

function absolutePath(found: Found | undefined, base: { cwd: string; configDir: string }): string {
  const path = parsed(found, parsePath) ?? '.';
  // The shell has expanded the ~ of a flag or a variable; nobody has in the file.
  if (found?.from === 'file' && /^~(\/|$)/.test(path)) return join(homedir(), path.slice(1));
  return resolve(found?.from === 'file' ? base.configDir : base.cwd, path);
}

function parsed<T>(found: Found | undefined, parse: (text: string) => T): T | undefined {
  if (found === undefined) return undefined;
  try {
    return parse(found.text);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const message = `${found.place} ${error.message}; it is ${JSON.stringify(found.text)}.`;
    throw new KeibiError(found.from === 'flag' ? 'USAGE' : 'CONFIG_INVALID', message, { cause: error });
  }
}

async function readConfigFile(path: string): Promise<ReadonlyMap<string, Found>> {
  let toml: string;
  try {
    toml = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return new Map();
    throw new KeibiError('CONFIG_INVALID', `${path} cannot be read: ${String(error)}`, { cause: error });
  }
  const known = new Set(Object.values(sources).flatMap(({ key }) => (key === undefined ? [] : [key])));
  const found = new Map<string, Found>();
  for (const [key, value] of Object.entries(parsedToml(toml, path))) {
    const place = `${path}:${lineOf(toml, key)}: ${key}`;
    if (!known.has(key)) {
      throw new KeibiError('CONFIG_INVALID', `${place} is not a setting. The settings are ${[...known].join(', ')}.`);
    }
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new KeibiError('CONFIG_INVALID', `${place} must be a string or a number.`);
    }
    found.set(key, { text: String(value), from: 'file', place });
  }
  return found;
}

function parsedToml(toml: string, path: string): Record<string, unknown> {
  try {
    return parseToml(toml);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '');
    throw new KeibiError('CONFIG_INVALID', `${path}:${error.line}:${error.column}: ${reason}.`, { cause: error });
  }
}

/** The line of a top-level key, from 1. */
function lineOf(toml: string, key: string): number {
  const name = key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const start = new RegExp(`^[ \\t]*(?:\\[+[ \\t]*)?["']?${name}["']?[ \\t]*[.=\\]]`, 'm').exec(toml);
  return start === null ? 1 : toml.slice(0, start.index).split('\n').length;
}

/** `codeLength` -> `--code-length`. */
function flagName(flag: string): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The machine's own name, made to fit MAX_LABEL_BYTES. */
function ownName(): string {
  try {
    return parseLabel(hostname());
  } catch {
    return 'unnamed';
  }
}

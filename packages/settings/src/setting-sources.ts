// SPDX-License-Identifier: MPL-2.0
import { readFile } from 'node:fs/promises';
import { KeibiError } from '@keibidrop/protocol';
import { parse as parseToml, TomlError } from 'smol-toml';
import { BadValue } from './setting-values.ts';

/** A value as text, and the name of its source for an error. */
export interface Found {
  text: string;
  from: 'flag' | 'env' | 'file';
  place: string;
}

/** The possible sources of one setting: its key in the file, its variable, its flag. */
export interface Source<Flags> {
  readonly key?: string;
  readonly env?: string;
  readonly flag?: keyof Flags & string;
}

/** The values of a file, by key. */
export type ConfigFile = ReadonlyMap<string, Found>;

/** The tables of the file, each with its own reader. */
const TABLES: readonly string[] = ['relay'];

/** Finds values: flags beat the environment, which beats the file. An empty variable counts as not set. */
export function finderOf<Name extends string, Flags extends { [flag in keyof Flags]?: string | undefined }>(
  sources: Readonly<Record<Name, Source<Flags>>>,
  places: { flags: Flags; env: Readonly<Record<string, string | undefined>>; file: ConfigFile },
): (name: Name) => Found | undefined {
  const { flags, env, file } = places;
  return (name) => {
    const { key, env: variable, flag } = sources[name];
    const typed = flag && flags[flag];
    if (flag && typed !== undefined) return { text: typed, from: 'flag', place: flagName(flag) };
    const set = variable && env[variable];
    if (variable && set) return { text: set, from: 'env', place: variable };
    return key === undefined ? undefined : file.get(key);
  };
}

/** @throws USAGE for a flag, CONFIG_INVALID for a variable or a line of the file, each naming the place */
export function parsed<T>(found: Found | undefined, parse: (text: string) => T): T | undefined {
  if (found === undefined) return undefined;
  try {
    return parse(found.text);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const message = `${found.place} ${error.message}${error.secret ? '' : `; it is ${JSON.stringify(found.text)}`}.`;
    throw new KeibiError(found.from === 'flag' ? 'USAGE' : 'CONFIG_INVALID', message, { cause: error });
  }
}

/**
 * Reads a TOML file, or its table `table`; empty if there is no such file or table.
 *
 * @param known  the permitted keys
 * @throws CONFIG_INVALID naming the line
 */
export async function readConfigFile(path: string, known: readonly string[], table?: string): Promise<ConfigFile> {
  let toml: string;
  try {
    toml = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return new Map();
    throw new KeibiError('CONFIG_INVALID', `${path} cannot be read: ${String(error)}`, { cause: error });
  }
  const whole = parsedToml(toml, path);
  const section = table === undefined ? whole : whole[table];
  const found = new Map<string, Found>();
  for (const [key, value] of Object.entries(isTable(section) ? section : {})) {
    if (table === undefined && TABLES.includes(key) && isTable(value)) continue;
    const place = `${path}:${lineOf(toml, key)}: ${key}`;
    if (!known.includes(key)) {
      throw new KeibiError('CONFIG_INVALID', `${place} is not a setting. The settings are ${known.join(', ')}.`);
    }
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new KeibiError('CONFIG_INVALID', `${place} must be a string or a number.`);
    }
    found.set(key, { text: String(value), from: 'file', place });
  }
  return found;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
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

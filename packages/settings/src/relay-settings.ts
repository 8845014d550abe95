// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import type { HostPort } from '@keibidrop/discovery';
import { KeibiError } from '@keibidrop/protocol';
import { type ChosenLimits, type RelayServerLimits, relayLimitsOf } from '@keibidrop/server';
import { configFileIn, loadSettings, type SettingsQuery } from './config.ts';
import { configDirOf } from './config-directory.ts';
import type { ListenAddress } from './listen-address.ts';
import { finderOf, parsed, readConfigFile, type Source } from './setting-sources.ts';
import {
  type LogLevel,
  parseCount,
  parseHostPort,
  parsePath,
  parseRate,
  parseRedisUrl,
  parseTimeLimit,
} from './setting-values.ts';

/** The settings of one run of `keibidrop relay`. */
export interface RelaySettings {
  listen: ListenAddress;
  log: LogLevel;
  /** `redis://` or `rediss://`, perhaps with a password. */
  redis: string | undefined;
  advertise: HostPort | undefined;
  /** Absolute paths. */
  certificate: { cert: string; key: string } | undefined;
  limits: RelayServerLimits;
}

/** Values as typed. */
export type RelayFlags = { [flag in RelayName | 'listen' | 'config']?: string | undefined };

type RelayName =
  | 'redis'
  | 'advertise'
  | 'cert'
  | 'key'
  | 'mailboxes'
  | 'mailboxesPerNetwork'
  | 'pairs'
  | 'relayPerNetwork'
  | 'idle'
  | 'lifetime'
  | 'limit';

/** The keys are those of the table `[relay]` of the file. */
const sources: Readonly<Record<RelayName, Source<RelayFlags>>> = {
  redis: { key: 'redis', env: 'KD_REDIS', flag: 'redis' },
  advertise: { key: 'advertise', flag: 'advertise' },
  cert: { key: 'cert', flag: 'cert' },
  key: { key: 'key', flag: 'key' },
  mailboxes: { key: 'mailboxes', flag: 'mailboxes' },
  mailboxesPerNetwork: { key: 'mailboxes_per_network', flag: 'mailboxesPerNetwork' },
  pairs: { key: 'pairs', flag: 'pairs' },
  relayPerNetwork: { key: 'relay_per_network', flag: 'relayPerNetwork' },
  idle: { key: 'idle', flag: 'idle' },
  lifetime: { key: 'lifetime', flag: 'lifetime' },
  limit: { key: 'limit', flag: 'limit' },
};
const keys = Object.values(sources).flatMap(({ key }) => key ?? []);

/** Reads the settings of a relay. Throws as `loadSettings`. */
export async function loadRelaySettings(
  query: Omit<SettingsQuery, 'flags'> & { flags: RelayFlags },
): Promise<RelaySettings> {
  const { flags, env, cwd } = query;
  const { config, listen } = flags;
  const common = await loadSettings({ flags: { config, listen }, env, cwd });
  const file = await readConfigFile(configFileIn(configDirOf(query)), keys, 'relay');
  const find = finderOf(sources, { flags, env, file });
  const value = <T>(name: RelayName, parse: (text: string) => T): T | undefined => parsed(find(name), parse);
  const chosen: ChosenLimits = {
    mailboxes: value('mailboxes', parseCount),
    mailboxesPerNetwork: value('mailboxesPerNetwork', parseCount),
    pairs: value('pairs', parseCount),
    relayPerNetwork: value('relayPerNetwork', parseCount),
    idleMs: value('idle', parseTimeLimit),
    lifetimeMs: value('lifetime', parseTimeLimit),
    bytesPerSecond: value('limit', parseRate),
  };
  return {
    listen: common.listen,
    log: common.log,
    redis: value('redis', parseRedisUrl),
    advertise: value('advertise', parseHostPort),
    certificate: certificateOf(value('cert', parsePath), value('key', parsePath), cwd),
    limits: relayLimitsOf(chosen),
  };
}

function certificateOf(cert: string | undefined, key: string | undefined, cwd: string): RelaySettings['certificate'] {
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined) return { cert: resolve(cwd, cert), key: resolve(cwd, key) };
  throw new KeibiError('USAGE', 'TLS needs a certificate and its key: give both --cert and --key.');
}

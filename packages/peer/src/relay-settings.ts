// SPDX-License-Identifier: MPL-2.0
import type { HostPort } from '@keibidrop/discovery';
import type { ListenAddress } from './api.ts';
import { configDirOf, configFileIn, loadSettings, type SettingsQuery } from './config.ts';
import { finderOf, parsed, readConfigFile, type Source } from './setting-sources.ts';
import { type LogLevel, parseHostPort, parseRedisUrl } from './setting-values.ts';

/** What holds for one run of `keibidrop relay`. */
export interface RelaySettings {
  listen: ListenAddress;
  log: LogLevel;
  /** `redis://` or `rediss://`, perhaps with a password. */
  redis: string | undefined;
  advertise: HostPort | undefined;
}

/** Values as people typed them. */
export interface RelayFlags {
  config?: string | undefined;
  listen?: string | undefined;
  redis?: string | undefined;
  advertise?: string | undefined;
}

type RelayName = 'redis' | 'advertise';

/** The keys are those of the table `[relay]` of the file. */
const sources: Readonly<Record<RelayName, Source<RelayFlags>>> = {
  redis: { key: 'redis', env: 'KD_REDIS', flag: 'redis' },
  advertise: { key: 'advertise', flag: 'advertise' },
};
const keys = Object.values(sources).flatMap(({ key }) => key ?? []);

/** Reads the settings of a relay. Throws as `loadSettings` does. */
export async function loadRelaySettings(
  query: Omit<SettingsQuery, 'flags'> & { flags: RelayFlags },
): Promise<RelaySettings> {
  const { flags, env, cwd } = query;
  const { config, listen } = flags;
  const common = await loadSettings({ flags: { config, listen }, env, cwd });
  const file = await readConfigFile(configFileIn(configDirOf(query)), keys, 'relay');
  const find = finderOf(sources, { flags, env, file });
  return {
    listen: common.listen,
    log: common.log,
    redis: parsed(find('redis'), parseRedisUrl),
    advertise: parsed(find('advertise'), parseHostPort),
  };
}

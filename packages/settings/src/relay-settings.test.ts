// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { relayLimitsOf } from '@keibidrop/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadRelaySettings, type RelayFlags } from './relay-settings.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keibidrop-relay-settings-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function load(flags: RelayFlags, { toml = '', env = {} } = {}) {
  await writeFile(join(dir, 'config.toml'), toml);
  return loadRelaySettings({ flags: { ...flags, config: dir }, env, cwd: dir });
}

describe('settings of a relay', () => {
  it('have defaults', async () => {
    expect(await load({})).toMatchObject({ redis: undefined, advertise: undefined, limits: relayLimitsOf({}) });
  });

  it('come from flags before the table of the file, and leave the rest of the file alone', async () => {
    const toml = `label = "x"\n[relay]\nmailboxes = 5\npairs = 7\nidle = "90s"\nredis = "redis://file"\nlimit = "1M"`;
    const { limits, redis } = await load({ pairs: '9' }, { toml, env: { KD_REDIS: 'redis://environment' } });
    expect(limits.rendezvous).toMatchObject({ mailboxes: 5, connections: 10, mailboxesPerNetwork: 100 });
    expect(limits.relay).toMatchObject({ pairs: 9, waiting: 9, idleMs: 90_000, bytesPerSecond: 2 ** 20 });
    expect(redis).toBe('redis://environment');
  });

  it.each<[RelayFlags, RegExp]>([
    [{ mailboxes: '0' }, /^--mailboxes must be a number from 1 to 1000000; it is "0"\.$/],
    [{ pairs: 'many' }, /^--pairs must be a number/],
    [{ mailboxesPerNetwork: '-1' }, /^--mailboxes-per-network must/],
    [{ relayPerNetwork: '1e3' }, /^--relay-per-network must/],
    [{ idle: '0' }, /^--idle must be a time from 1s to 20d/],
    [{ lifetime: '21d' }, /^--lifetime must be a time from 1s to 20d/],
    [{ lifetime: '5' }, /^--lifetime must be a time/],
    [{ limit: 'fast' }, /^--limit must be bytes a second/],
    [{ advertise: 'here' }, /^--advertise must be HOST:PORT/],
    [
      { redis: 'http://u:hunter2@h' },
      /^--redis must be redis:\/\/HOST\[:PORT\]\[\/DATABASE\], or rediss:\/\/ for TLS\.$/,
    ],
  ])('refuse %o', async (flags, message) => {
    await expect(load(flags)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(message) });
  });

  it('refuse an unknown setting, naming its line', async () => {
    await expect(load({}, { toml: '[relay]\npears = 3\n' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/config\.toml:2: pears is not a setting\. The settings are redis, /),
    });
  });
});

// SPDX-License-Identifier: MPL-2.0
import { lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeSettings, DEFAULT_PORT, loadSettings, type SettingFlags, settingsInForce } from './config.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-config-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function load(toml: string | undefined, env: Record<string, string> = {}, flags: SettingFlags = {}) {
  if (toml !== undefined) await writeFile(join(directory, 'config.toml'), toml);
  return loadSettings({ flags, env: { KD_CONFIG_DIR: directory, ...env }, cwd: '/work' });
}

it('has defaults for everything', async () => {
  expect(await load(undefined)).toEqual({
    configDir: directory,
    rendezvous: undefined,
    listen: { host: '::', port: DEFAULT_PORT, orAnyPort: true },
    connect: undefined,
    savePath: '/work',
    discovery: 'auto',
    log: 'warn',
    limitBytesPerSecond: undefined,
    patienceMs: undefined,
    codeLength: 2,
    label: expect.stringMatching(/./),
    history: { entries: 1000, days: 365 },
  });
});

it('reads every key of the file', async () => {
  const toml = `
    rendezvous = "meet.example.org:443"
    listen = "127.0.0.1:9"
    save_path = "in"
    discovery = "eth0"
    log = "debug"
    limit = "10M"
    patience = "10m"
    code_length = 3
    label = "my laptop"
    history_entries = 0
    history_days = 30
  `;
  expect(await load(toml)).toEqual({
    configDir: directory,
    rendezvous: 'meet.example.org:443',
    listen: { host: '127.0.0.1', port: 9, orAnyPort: true },
    connect: undefined,
    savePath: join(directory, 'in'),
    discovery: { interface: 'eth0' },
    log: 'debug',
    limitBytesPerSecond: 10 * 2 ** 20,
    patienceMs: 600_000,
    codeLength: 3,
    label: 'my laptop',
    history: { entries: 0, days: 30 },
  });
});

describe('changing settings', () => {
  const file = () => readFile(join(directory, 'config.toml'), 'utf8');
  const change = (changes: Record<string, string>) =>
    changeSettings({ flags: {}, env: { KD_CONFIG_DIR: directory }, cwd: '/work' }, changes);

  it('rewrites the lines of its keys and no others', async () => {
    await load('# mine\nlimit = 10 # a lot\nlabel = "a"\n\n[relay]\nlisten = "1"\n');
    await change({ limit: '5M', label: '', save_path: '/in "quotes"' });
    expect(await file()).toBe('# mine\nlimit = "5M"\n\nsave_path = "/in \\"quotes\\""\n[relay]\nlisten = "1"\n');
    expect(await load(undefined)).toMatchObject({ limitBytesPerSecond: 5 * 2 ** 20, savePath: '/in "quotes"' });
  });

  it.each([
    [{ limit: 'fast' }, 'CONFIG_INVALID', 'limit must be'],
    [{ lemit: '1' }, 'USAGE', 'lemit is not a setting'],
    [{ label: 'b', listen: 'nowhere' }, 'CONFIG_INVALID', 'listen must be'],
    [{ save_path: 'in' }, 'CONFIG_INVALID', 'save_path must begin with / or ~/; it is "in"'],
    [{ save_path: '~ada/in' }, 'CONFIG_INVALID', 'save_path must begin with'],
  ])('changes nothing for %j', async (changes: Record<string, string>, code, message) => {
    await load('label = "a"\n');
    await expect(change(changes)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(await file()).toBe('label = "a"\n');
  });

  it('leaves values alone that span several lines', async () => {
    const text = 'label = """\na"""\n';
    await load(text);
    await expect(change({ label: 'b' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(await file()).toBe(text);
  });

  it('reports the option or variable that overrides the file', async () => {
    await load('limit = "10M"\nlisten = "9"\n');
    const env = { KD_CONFIG_DIR: directory, KD_LISTEN: '8' };
    const settings = await settingsInForce({ flags: {}, env, cwd: '/work' });
    expect(settings).toContainEqual({ key: 'limit', value: '10M', fixed: undefined });
    expect(settings).toContainEqual({ key: 'listen', value: '8', fixed: 'KD_LISTEN' });
    expect(settings).toContainEqual({ key: 'label', value: undefined, fixed: undefined });
  });
});

describe('a config.toml that is kept elsewhere, behind a symlink', () => {
  it('is changed there', async () => {
    const [link, file] = [join(directory, 'config.toml'), join(directory, 'dotfiles.toml')];
    await writeFile(file, 'label = "one"\n');
    await symlink(file, link);
    await changeSettings({ flags: {}, env: { KD_CONFIG_DIR: directory }, cwd: '/work' }, { label: 'other' });
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readFile(file, 'utf8')).toBe('label = "other"\n');
  });
});

describe('flags beat the environment, which beats the file', () => {
  it.each([
    [
      'rendezvous',
      'rendezvous = "f:1"',
      { KD_RENDEZVOUS: 'e:1' },
      { rendezvous: 'g:1' },
      'rendezvous',
      ['f:1', 'e:1', 'g:1'],
    ],
    [
      'discovery',
      'discovery = "a"',
      { KD_DISCOVERY: 'off' },
      { discovery: 'auto' },
      'discovery',
      [{ interface: 'a' }, 'off', 'auto'],
    ],
    ['save_path', 'save_path = "/f"', { KD_SAVE_PATH: '/e' }, { out: '/g' }, 'savePath', ['/f', '/e', '/g']],
    ['limit', 'limit = 1', {}, { limit: '2' }, 'limitBytesPerSecond', [1, 1, 2]],
    ['patience', 'patience = "1s"', { KD_PATIENCE: '2s' }, { patience: '0' }, 'patienceMs', [1000, 2000, 0]],
    ['log', 'log = "info"', { KD_LOG: 'error' }, {}, 'log', ['info', 'error', 'error']],
    ['code_length', 'code_length = 3', {}, { codeLength: '4' }, 'codeLength', [3, 3, 4]],
  ] as const)('for %s', async (_, toml, env, flags, name, [file, environment, flag]) => {
    expect((await load(toml))[name]).toEqual(file);
    expect((await load(toml, env))[name]).toEqual(environment);
    expect((await load(toml, env, flags))[name]).toEqual(flag);
  });

  it('for listen, where only the port of a flag is mandatory', async () => {
    const toml = 'listen = "1"';
    expect((await load(toml)).listen).toEqual({ host: '::', port: 1, orAnyPort: true });
    expect((await load(toml, { KD_LISTEN: '2' })).listen).toEqual({ host: '::', port: 2, orAnyPort: true });
    expect((await load(toml, { KD_LISTEN: '2' }, { listen: '3' })).listen).toEqual({
      host: '::',
      port: 3,
      orAnyPort: false,
    });
  });

  it('for the directory of the file itself', async () => {
    const other = join(directory, 'other');
    await mkdir(other);
    await writeFile(join(other, 'config.toml'), 'label = "other"');
    expect(await load('label = "this"', {}, { config: other })).toMatchObject({ configDir: other, label: 'other' });
  });
});

it('treats an empty variable as unset', async () => {
  expect(await load('listen = "1"', { KD_LISTEN: '' })).toMatchObject({ listen: { port: 1 } });
});

it('expands the home directory in the file', async () => {
  expect(await load('save_path = "~/in"')).toMatchObject({ savePath: join(homedir(), 'in') });
});

it('reads an address to connect to from the flag alone', async () => {
  expect(await load(undefined, {}, { connect: '[::1]:9' })).toMatchObject({ connect: { host: '::1', port: 9 } });
  await expect(load('connect = "h:1"')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

describe('an error names the place', () => {
  it.each([
    ['a flag', undefined, {}, { limit: 'fast' }, 'USAGE', /^--limit must be .* it is "fast"\.$/],
    ['a flag of two words', undefined, {}, { codeLength: '1' }, 'USAGE', /^--code-length must be /],
    ['a variable', undefined, { KD_LISTEN: 'x' }, {}, 'CONFIG_INVALID', /^KD_LISTEN must be .* it is "x"\.$/],
    [
      'a line of the file',
      '\n\nlimit = "fast"',
      {},
      {},
      'CONFIG_INVALID',
      /config\.toml:3: limit must be .* "fast"\.$/,
    ],
    [
      'a value of a wrong type',
      'log = true',
      {},
      {},
      'CONFIG_INVALID',
      /config\.toml:1: log must be a string or a number/,
    ],
    ['an unknown key', '# a\nlistn = "1"', {}, {}, 'CONFIG_INVALID', /config\.toml:2: listn is not a setting.*listen/],
    ['a table', 'log = "info"\n\n[proxy]\nx = 1', {}, {}, 'CONFIG_INVALID', /config\.toml:3: proxy is not a setting/],
    ['what is no TOML', 'log = \n', {}, {}, 'CONFIG_INVALID', /config\.toml:1:\d+: .+\.$/],
    ['a number that is no port', 'listen = 99999', {}, {}, 'CONFIG_INVALID', /config\.toml:1: listen must be /],
  ] as const)('%s', async (_, toml, env, flags, code, message) => {
    await expect(load(toml, env, flags)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('a file that cannot be read', async () => {
    await mkdir(join(directory, 'config.toml'));
    await expect(load(undefined)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

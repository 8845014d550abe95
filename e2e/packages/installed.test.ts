// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { exitsOf, run, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { digestOf, writeRandom } from '../harness/tree.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** A folder with the packages that `npm run test:packages` has built for a release; else this machine's build is packed. */
const RELEASED = process.env.KD_TEST_PACKAGES;
const MIB = 1 << 20;
const PROGRAM_MOST_BYTES = 2 * MIB;
const INSTALLED_MOST_BYTES = 12 * MIB;

/** npm installs the packages of this checkout, without a network. */
describe('the packages, installed on a computer with only Node', () => {
  let sandbox: Sandbox;
  let version: string;
  let packed: { program: string; native: string };
  const prefix = () => sandbox.path('prefix');
  const modules = (...path: string[]) => join(prefix(), 'lib/node_modules', ...path);

  beforeAll(async () => {
    sandbox = await Sandbox.open();
    version = String((await readJson(join(ROOT, 'apps/cli/package.json'))).version);
    const folder = RELEASED ?? sandbox.path('packed');
    if (RELEASED === undefined) run(join(ROOT, 'scripts/pack'), '--built', '--out', folder);
    const system = `keibidrop-${process.platform}-${process.arch}`;
    const native =
      (await readdir(folder)).find(
        (name) => name.startsWith(system) && name.endsWith('.tgz') && !name.includes('musl'),
      ) ?? '';
    packed = { program: join(folder, `keibidrop-${version}.tgz`), native: join(folder, native) };
    await mkdir(sandbox.path('path'));
    await symlink(process.execPath, sandbox.path('path/node'));
    npm('install', packed.program, packed.native);
  });
  afterAll(async () => {
    await stop();
    await sandbox.close();
  });

  function npm(...args: string[]): string {
    const quiet = ['--offline', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel', 'error'];
    return run('npm', ...args, '--global', '--prefix', prefix(), '--cache', sandbox.path('cache'), ...quiet);
  }

  const installed = (): StartOptions => ({
    command: [join(prefix(), 'bin/keibidrop')],
    env: { PATH: sandbox.path('path'), KD_NATIVE_BINDING: '' },
  });
  const start = (args: string[]): Promise<Running> => sandbox.start(args, installed());

  async function stop(): Promise<void> {
    if (existsSync(modules('keibidrop'))) await (await start(['stop', '--config', 'me'])).ended;
  }

  it('have the names and sizes of packages', async () => {
    const platform = /^keibidrop-(.+)\.tgz$/.exec(packed.native.split('/').at(-1) ?? '')?.[1];
    expect(platform).toMatch(new RegExp(`^${process.platform}-${process.arch}.*-${version}$`));
    expect((await stat(packed.program)).size).toBeLessThan(PROGRAM_MOST_BYTES);
    expect(await bytesIn(modules())).toBeLessThan(INSTALLED_MOST_BYTES);
  });

  it('contain neither source maps nor tests, and run nothing on installation', async () => {
    const files = (await readdir(modules(), { recursive: true })).filter((path) => !path.includes('/node_modules/'));
    expect(files.filter((path) => /\.map$|\.test\./.test(path))).toEqual([]);
    for (const name of ['keibidrop', await nativeName()]) {
      expect(await readJson(modules(name, 'package.json'))).not.toHaveProperty('scripts');
      expect(existsSync(modules(name, 'LICENSE'))).toBe(true);
    }
  });

  it('name every platform package in their own version', async () => {
    const { optionalDependencies } = await readJson(modules('keibidrop/package.json'));
    const platforms = Object.keys(await readJson(join(ROOT, 'native/platforms.json')));
    const expected = platforms.map((platform) => [`@keibidrop/${platform}`, version]);
    expect(optionalDependencies).toEqual({
      ...Object.fromEntries(expected),
      '@napi-rs/keyring': expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    expect(platforms).toHaveLength(7);
  });

  it('name the licence of every library in them', async () => {
    const program = await readFile(modules('keibidrop/THIRD-PARTY-NOTICES'), 'utf8');
    for (const name of ['@grpc/grpc-js', '@noble/post-quantum', 'commander', 'react-dom', 'zustand']) {
      expect(program).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\n\nLicence: .+\n\n.+`, 'm'));
    }
    expect(program).not.toContain('Licence: see below');
    const native = await readFile(modules(await nativeName(), 'THIRD-PARTY-NOTICES'), 'utf8');
    expect(native).toMatch(/^node-addon-api \d/m);
  });

  it('print their version', async () => {
    const running = await start(['--version']);
    expect(await running.ended).toBe(0);
    expect(running.stdout).toBe(`${version}\n`);
  });

  it('have a manual page, which npm links where man looks', async () => {
    expect(await readFile(join(prefix(), 'share/man/man1/keibidrop.1'), 'utf8')).toContain('\n.SS "send"\n');
  });

  it('send and receive', async () => {
    await writeRandom(sandbox.path('file'), 5 * MIB);
    const { sender } = await sandbox.send(['file'], installed());
    const receiver = await sandbox.receive(['--out', 'out'], installed());
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
    expect(await digestOf(sandbox.path('out/file'))).toBe(await digestOf(sandbox.path('file')));
  });

  it('open the page', async () => {
    const ui = await start(['ui', '--config', 'me', '--json']);
    const { url } = await ui.until('page');
    expect(await ui.ended).toBe(0);
    const page = await fetch(url as string);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<title>KeibiDrop</title>');
  });

  it('run a relay', async () => {
    const relay = await start(['relay', '--listen', '127.0.0.1:0', '--json']);
    await relay.until('listening');
    relay.kill('SIGTERM');
    expect(await relay.ended).toBe(0);
  });

  it('diagnose this computer', async () => {
    const doctor = await start(['doctor', '--json', '--discovery', 'off', '--listen', '127.0.0.1:0']);
    expect(await doctor.ended).toBeLessThan(2);
    expect(doctor.stderr).not.toContain('bug');
    expect(doctor.events().length).toBeGreaterThan(3);
  });

  it('have a mount host that starts', async () => {
    const host = await sandbox.start([], { command: [modules(await nativeName(), 'keibidrop-mount')] });
    // 2: arguments are missing; 7: libfuse3 is missing.
    expect([2, 7]).toContain(await host.ended);
  });

  const itIfReleased = RELEASED === undefined ? () => {} : it;
  itIfReleased('need no more than the oldest system has', async () => {
    const files = ['keibidrop.node', 'keibidrop-mount'];
    const paths = await Promise.all(files.map(async (file) => modules(await nativeName(), file)));
    expect(run(process.execPath, join(ROOT, 'scripts/elf-needs.mjs'), ...paths)).toBe('');
  });

  it('say what is missing without the native package', async () => {
    const name = await nativeName();
    await rename(modules(name), sandbox.path('elsewhere'));
    try {
      const sender = await start(['send', '--text', 'hi']);
      expect(await sender.ended).toBe(1);
      expect(sender.stderr).toContain(`the optional dependency ${name}`);
      expect(sender.stderr).toContain('Install KeibiDrop again.');
      expect(sender.stderr).not.toContain('bug');
    } finally {
      await rename(sandbox.path('elsewhere'), modules(name));
    }
  });

  it('say so on a platform without a package', async () => {
    const other = sandbox.path('other-platform.mjs');
    await writeFile(other, "Object.defineProperty(process, 'arch', { value: 'riscv64' });\n");
    const { command = [], ...options } = installed();
    const sender = await sandbox.start(['send', '--text', 'hi'], {
      ...options,
      command: [process.execPath, '--import', other, ...command],
    });
    expect(await sender.ended).toBe(1);
    expect(sender.stderr).toMatch(/linux-riscv64-gnu \(there are packages for linux-x64-gnu, /);
    expect(sender.stderr).toContain('run scripts/setup in a checkout');
    expect(sender.stderr).not.toContain('bug');
  });

  it('leave nothing behind when uninstalled', async () => {
    await stop();
    npm('uninstall', 'keibidrop', await nativeName());
    const left = await readdir(prefix(), { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => !entry.isDirectory())).toEqual([]);
  });

  async function nativeName(): Promise<string> {
    const [name = ''] = await readdir(modules('@keibidrop'));
    return `@keibidrop/${name}`;
  }
});

it('a build that needs more than the oldest supported system is refused', () => {
  const needs = join(ROOT, 'scripts/elf-needs.mjs');
  // The build of a checkout links the compiler's own library.
  expect(() => run(process.execPath, needs, join(ROOT, 'native/build/keibidrop.node'))).toThrow(/libstdc\+\+/);
});

it('a build for glibc is refused in a package for musl', () => {
  const needs = join(ROOT, 'scripts/elf-needs.mjs');
  const build = join(ROOT, 'native/build/keibidrop.node');
  expect(() => run(process.execPath, needs, '--libc', 'musl', build)).toThrow(/needs libc\.so\.6[\s\S]*needs GLIBC_2/);
});

async function readJson(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
}

async function bytesIn(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

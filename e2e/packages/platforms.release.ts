// SPDX-License-Identifier: MPL-2.0
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { exitsOf, run, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { digestOf, readTree, writeRandom } from '../harness/tree.ts';

// The packages for another processor than this machine's, from the folder that scripts/test-packages fills. QEMU runs
// them, so nothing here measures speed.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = process.env.KD_TEST_PACKAGES ?? '';
const GIB = 2 ** 30;
/** An emulated processor on a busy machine. */
const LONG_MS = 1_800_000;

const PLATFORMS = ['linux-arm64-gnu'];

let sandbox: Sandbox;
let version: string;
/** The packages for this machine. */
let here: StartOptions;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  ({ version } = JSON.parse(await readFile(join(ROOT, 'apps/cli/package.json'), 'utf8')) as { version: string });
  const modules = install('linux-x64-gnu', '--force');
  here = program(modules, [process.execPath]);
});
afterAll(() => sandbox.close());

/** Installs the packages for a platform, and returns their folder. npm takes those of another one by `--force` only. */
function install(platform: string, ...options: string[]): string {
  const prefix = sandbox.path(platform);
  const files = [`keibidrop-${version}.tgz`, `keibidrop-${platform}-${version}.tgz`].map((name) => join(FOLDER, name));
  const quiet = ['--offline', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel', 'error'];
  run('npm', 'install', ...files, '--prefix', prefix, '--cache', sandbox.path('cache'), ...quiet, ...options);
  return join(prefix, 'node_modules');
}

function program(modules: string, node: string[]): StartOptions {
  const command = [...node, join(modules, 'keibidrop/dist/keibidrop.cjs')];
  return { command, env: { KD_NATIVE_BINDING: '' }, timeoutMs: LONG_MS };
}

describe.each(PLATFORMS)('the packages for %s', (platform) => {
  let modules: string;
  /** The command that runs a program of the platform here, and its Node. */
  let runner: string[];
  let node: string;
  let there: StartOptions;
  const native = (name: string) => join(modules, '@keibidrop', platform, name);

  beforeAll(() => {
    const words = run(join(ROOT, 'scripts/foreign-node'), platform).trim().split('\n');
    node = words.pop() ?? '';
    runner = words;
    modules = install(platform, '--force');
    there = program(modules, [...runner, node]);
  }, LONG_MS);

  const start = (args: string[]): Promise<Running> => sandbox.start(args, there);

  it('need no more than the oldest system has, and link its C library when they run', () => {
    for (const name of ['keibidrop.node', 'keibidrop-mount']) {
      expect(run(process.execPath, join(ROOT, 'scripts/elf-needs.mjs'), native(name))).toBe('');
      // A static mount host could not load libfuse3.
      expect(run('readelf', '--dynamic', native(name))).toMatch(/\(NEEDED\).*\[libc\.so/);
    }
  });

  it('are refused by npm on this computer', () => {
    expect(() => install(platform)).toThrow('EBADPLATFORM');
  });

  it('print their version, and have a mount host that starts', async () => {
    const running = await start(['--version']);
    expect(await running.ended).toBe(0);
    expect(running.stdout).toBe(`${version}\n`);
    const host = await sandbox.start([], { ...there, command: [...runner, native('keibidrop-mount')] });
    // It has loaded libfuse3, and arguments are missing.
    expect(await host.ended).toBe(2);
  });

  it('diagnose the computer, and run a relay', async () => {
    const doctor = await start(['doctor', '--json', '--discovery', 'off', '--listen', '127.0.0.1:0']);
    expect(await doctor.ended).toBeLessThan(2);
    expect(doctor.stderr).not.toContain('bug');
    const relay = await start(['relay', '--listen', '127.0.0.1:0', '--json']);
    await relay.until('listening');
    relay.kill('SIGTERM');
    expect(await relay.ended).toBe(0);
  });

  it.each(['from here', 'to here'])(
    'transfer a tree %s',
    async (way) => {
      const tree = sandbox.path('tree');
      await rm(tree, { recursive: true, force: true });
      await cp(join(ROOT, 'native/src'), join(tree, 'src'), { recursive: true });
      await cp(join(ROOT, 'docs'), join(tree, 'docs'), { recursive: true });
      await transfer('tree', way);
      expect(await readTree(sandbox.path('out/tree'))).toEqual(await readTree(tree));
    },
    LONG_MS,
  );

  it.each(['from here', 'to here'])(
    'transfer 1 GiB %s',
    async (way) => {
      await writeRandom(sandbox.path('large'), GIB);
      await transfer('large', way);
      expect(await digestOf(sandbox.path('out/large'))).toBe(await digestOf(sandbox.path('large')));
    },
    LONG_MS,
  );

  it(
    'pass the C++ tests',
    async () => {
      const tests = join(ROOT, `native/build-${platform}/keibi_tests`);
      const running = await sandbox.start([], { ...there, command: [...runner, tests, '--gtest_brief=1'] });
      const exit = await running.ended;
      expect({ exit, failures: running.stdout.match(/^\[ {2}FAILED {2}\].*/gm) ?? [] }).toEqual({
        exit: 0,
        failures: [],
      });
      expect(Number(/\[ {2}PASSED {2}\] (\d+) tests/.exec(running.stdout)?.[1])).toBeGreaterThan(300);
    },
    LONG_MS,
  );

  async function transfer(name: string, way: string): Promise<void> {
    await rm(sandbox.path('out'), { recursive: true, force: true });
    const [sending, receiving] = way === 'from here' ? [here, there] : [there, here];
    const { sender } = await sandbox.send([name], sending);
    const receiver = await sandbox.receive(['--out', 'out'], receiving);
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
  }
});

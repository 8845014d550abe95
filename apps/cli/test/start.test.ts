// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { program, start } from './program.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SOME_BYTE = 20_000;

/** Records which chunks were compiled and whether V8 took their cached data, and which of Node's modules were loaded. */
const RECORDER = `
const { writeFileSync } = require('node:fs');
const { basename } = require('node:path');
const vm = require('node:vm');
const chunks = {};
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options);
    chunks[basename(options.filename)] = this.cachedDataRejected ?? 'not cached';
  }
};
process.once('exit', () => writeFileSync(process.env.RECORD, JSON.stringify({ chunks, modules: process.moduleLoadList })));
`;

interface Recorded {
  /** For each chunk: whether V8 rejected its cached data; undefined while the process runs. */
  chunks: Record<string, boolean | 'not cached'>;
  modules: string[];
}

/** The program without the caches that set-up has written, so that it uses those of the user. */
let installed: string;
let home: string;
beforeAll(() => {
  installed = mkdtempSync(join(tmpdir(), 'keibidrop-start-'));
  for (const name of readdirSync(dirname(program))) {
    if (name.endsWith('.cjs')) cpSync(join(dirname(program), name), join(installed, name));
  }
  writeFileSync(join(installed, 'recorder.cjs'), RECORDER);
  home = join(installed, 'home');
});
afterAll(() => rmSync(installed, { recursive: true }));
beforeEach(() => {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
});

const caches = () => join(home, '.cache/keibidrop/code');

function environment(name: string) {
  return {
    KD_NATIVE_BINDING: process.env.KD_NATIVE_BINDING ?? here('../../../native/build/keibidrop.node'),
    NODE_OPTIONS: `--require=${join(installed, 'recorder.cjs')}`,
    RECORD: join(home, `${name}.json`),
  };
}

function begin(name: string, args: string[]) {
  return start(args, home, { env: environment(name), program: join(installed, 'keibidrop.cjs') });
}

const recorded = (name: string) => JSON.parse(readFileSync(join(home, `${name}.json`), 'utf8')) as Recorded;

async function run(...args: string[]): Promise<Recorded & { cached: Set<boolean | 'not cached'> }> {
  const running = begin('run', args);
  expect(await running.ended, running.printed.stderr).toBe(0);
  const record = recorded('run');
  return { ...record, cached: new Set(Object.values(record.chunks)) };
}

/** The only file of the caches. */
function cacheFile(): string {
  const names = readdirSync(caches());
  expect(names).toHaveLength(1);
  return join(caches(), names[0] ?? '');
}

it('prints its version without loading any chunk, or a module of Node that takes time', async () => {
  const { chunks, modules } = await run('--version');
  expect(chunks).toEqual({});
  expect(modules.filter((name) => /^NativeModule (crypto|http|http2|tls|dns|child_process)$/.test(name))).toEqual([]);
  expect(existsSync(caches())).toBe(false);
});

it('prints its help without gRPC and libsodium', async () => {
  const { chunks, modules } = await run('--help');
  expect(Object.keys(chunks)).toContain('program.cjs');
  expect(
    Object.keys(chunks).filter((name) => /peer-functions|sodium|grpc|completion|topics|manual/.test(name)),
  ).toEqual([]);
  expect(modules).not.toContain('NativeModule http2');
});

it.each(['program', 'peer-functions'])('says that it is incomplete without its chunk %s', async (part) => {
  const name = readdirSync(installed).find((each) => each.startsWith(part)) ?? '';
  renameSync(join(installed, name), join(installed, 'aside'));
  try {
    const sender = begin('run', ['send', '--text', 'hi']);
    expect(await sender.ended).toBe(1);
    expect(sender.printed.stderr).toContain(`${name} is missing`);
    expect(sender.printed.stderr).toContain('Install KeibiDrop again.');
    expect(sender.printed.stderr).not.toContain('bug');
  } finally {
    renameSync(join(installed, 'aside'), join(installed, name));
  }
});

describe('the code cache', () => {
  it('is written by a whole exchange, for this user only, and used by the next one', async () => {
    writeFileSync(join(home, 'a.txt'), 'content');
    async function exchange() {
      const sender = begin('send', ['send', 'a.txt', '--json', '--code', '7-guitar-pencil', '--listen', '127.0.0.1:0']);
      const [, port] = await sender.shows(/"port":(\d+)/);
      const receiver = begin('receive', [
        'receive',
        '7-guitar-pencil',
        '--yes',
        '--connect',
        `127.0.0.1:${port}`,
        '--out',
        'in',
      ]);
      expect([await sender.ended, await receiver.ended]).toEqual([0, 0]);
      rmSync(join(home, 'in'), { recursive: true });
      return ['send', 'receive'].flatMap((name) => Object.values(recorded(name).chunks));
    }
    expect(new Set(await exchange())).toEqual(new Set(['not cached']));
    expect(statSync(caches()).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(caches())) expect(statSync(join(caches(), name)).mode & 0o777).toBe(0o600);
    expect(
      readdirSync(caches())
        .map((name) => name.split('-')[0])
        .sort(),
    ).toEqual(['receive', 'send']);
    expect(new Set(await exchange())).toEqual(new Set([false]));
  });

  it.each<[string, (file: string) => void]>([
    [
      'with one changed byte',
      (file) => {
        const bytes = readFileSync(file);
        bytes[SOME_BYTE] = (bytes[SOME_BYTE] ?? 0) ^ 1;
        writeFileSync(file, bytes);
      },
    ],
    ['that ends early', (file) => truncateSync(file, SOME_BYTE)],
    ['that is empty', (file) => truncateSync(file, 0)],
    ['of zeros', (file) => writeFileSync(file, Buffer.alloc(SOME_BYTE))],
  ])('is ignored and replaced when it is a file %s', async (_, damage) => {
    await run('--help');
    damage(cacheFile());
    expect((await run('--help')).cached).toEqual(new Set(['not cached']));
    expect((await run('--help')).cached).toEqual(new Set([false]));
  });

  const itAsRoot = it.runIf(process.getuid?.() === 0);

  it.each<[string, (file: string) => void]>([
    ['in a file that others may write', (file) => chmodSync(file, 0o666)],
    ['in a directory that others may write', () => chmodSync(caches(), 0o777)],
    [
      'behind a symbolic link',
      (file) => {
        renameSync(file, join(home, 'elsewhere'));
        symlinkSync(join(home, 'elsewhere'), file);
      },
    ],
  ])('is not loaded from a place of others: %s', async (_, expose) => {
    await run('--help');
    expose(cacheFile());
    expect((await run('--help')).cached).toEqual(new Set(['not cached']));
  });

  itAsRoot('is not loaded from a file or directory of another user, nor written there', async () => {
    await run('--help');
    const file = cacheFile();
    chownSync(file, 65534, 65534);
    expect((await run('--help')).cached).toEqual(new Set(['not cached']));
    rmSync(file);
    chownSync(caches(), 65534, 65534);
    await run('--help');
    expect(readdirSync(caches())).toEqual([]);
  });

  it('is not written with --incognito, nor by a command that failed', async () => {
    await run('--help', '--incognito');
    expect(await begin('run', ['receive', '--nonsense']).ended).toBe(2);
    expect(existsSync(caches())).toBe(false);
  });

  it('keeps a limited number of files', async () => {
    mkdirSync(caches(), { recursive: true, mode: 0o700 });
    for (let i = 0; i < 100; i++) {
      writeFileSync(join(caches(), `send-${i}`), '');
      utimesSync(join(caches(), `send-${i}`), i, i);
    }
    await run('--help');
    const left = readdirSync(caches());
    expect(left).toHaveLength(32);
    expect(left).toContain('send-99');
    expect(left.some((name) => name.startsWith('other-'))).toBe(true);
  });

  it('stands beside the program of a checkout, which loads it', async () => {
    mkdirSync(join(installed, 'code-cache'), { mode: 0o755 });
    try {
      await run('--help');
      expect(existsSync(caches())).toBe(false);
      expect(
        lstatSync(join(installed, 'code-cache', readdirSync(join(installed, 'code-cache'))[0] ?? '')).mode & 0o022,
      ).toBe(0);
      expect((await run('--help')).cached).toEqual(new Set([false]));
    } finally {
      rmSync(join(installed, 'code-cache'), { recursive: true });
    }
  });
});

describe('newer-files, by which scripts/keibidrop decides whether to build', () => {
  const [OLD, STAMP, NEW] = [1000, 2000, 3000];
  const newer = () =>
    spawnSync(here('../../../native/build/newer-files'), [join(home, 'stamp'), join(home, 'a.json'), join(home, 'src')])
      .status;

  beforeEach(() => {
    mkdirSync(join(home, 'src/deep/gen'), { recursive: true });
    for (const name of ['a.json', 'src/b.ts', 'src/deep/c.ts', 'src/deep/c.test.ts', 'src/deep/gen/d.ts'])
      touch(name, OLD);
    touch('stamp', STAMP);
  });

  function touch(name: string, seconds: number): void {
    writeFileSync(join(home, name), '');
    utimesSync(join(home, name), seconds, seconds);
  }

  it.each(['a.json', 'src/b.ts', 'src/deep/c.ts', 'src/deep/new.cc'])('finds an edited %s', (name) => {
    expect(newer()).toBe(1);
    touch(name, NEW);
    expect(newer()).toBe(0);
  });

  it.each(['src/deep/c.test.ts', 'src/deep/gen/d.ts'])('passes over %s', (name) => {
    touch(name, NEW);
    expect(newer()).toBe(1);
  });

  it('fails, and so builds, without a source or the stamp', () => {
    rmSync(join(home, 'a.json'));
    expect(newer()).toBe(2);
    touch('a.json', OLD);
    rmSync(join(home, 'stamp'));
    expect(newer()).toBe(2);
  });
});

// SPDX-License-Identifier: MPL-2.0

// The workspace of a benchmark: data, the built ceiling and measure programs, and commands under measure.
import { execFile, spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';

const run = promisify(execFile);

export const checkout = fileURLToPath(new URL('../', import.meta.url));
const tools = `${checkout}bench/build/`;
const cli = `${checkout}apps/cli/dist/keibidrop.cjs`;
/** Python programs for comparison: `npm run bench -- install`. */
export const venv = `${tools}venv`;
/** Limit for a command that hangs; the longest row moves 20 GiB. */
const TIMEOUT_MS = 1_800_000;
/** More than the largest case writes. */
const WARM_BYTES = 1.5 * 2 ** 30;
const MANY_FILES = 500;
const CODE_WORDS = 'guitar-pencil';

export const ceiling = `${tools}ceiling`;
export const linkem = `${tools}linkem`;

/** Compiles the C++ programs that are newer than their products. The ceiling links the addon's own libcrypto. */
export async function buildTools() {
  await mkdir(tools, { recursive: true });
  for (const [path, libraries] of [
    ['bench/ceiling.cc', [...libcrypto(), '-lpthread']],
    ['bench/measure.cc', []],
    ['bench/small.cc', []],
    ['bench/warm.cc', []],
    ['e2e/tools/linkem.cc', ['-lpthread']],
  ]) {
    const source = checkout + path;
    const name = basename(path, '.cc');
    const newest = Math.max(...[source, ...libraries].map((file) => mtimeOf(file) ?? 0));
    if ((mtimeOf(tools + name) ?? 0) > newest) continue;
    await run('g++', ['-std=c++20', '-O3', '-march=native', '-o', tools + name, source, ...libraries]);
  }
}

/** Compiler arguments for the libcrypto that scripts/libcrypto built, else the system's, as native/CMakeLists.txt. */
function libcrypto() {
  const built = `${checkout}native/build-libcrypto`;
  const library = `${built}/lib/libcrypto.a`;
  return existsSync(library) ? [`-I${built}/include`, library] : ['-lcrypto'];
}

function mtimeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** A folder for data with a private runtime directory; close() removes all of it. */
export async function openWorkspace(scale) {
  const root = await mkdtemp(join(process.env.KD_BENCH_DIR ?? tmpdir(), 'keibidrop-bench-'));
  await mkdir(join(root, 'runtime'), { mode: 0o700 });
  let reports = 0;
  let discarded = 0;
  const running = new Set();
  const env = {
    ...process.env,
    XDG_RUNTIME_DIR: join(root, 'runtime'),
    KD_CONFIG_DIR: join(root, 'config'),
    KD_DISCOVERY: 'off',
  };
  const workspace = {
    path: (name) => join(root, name),
    /** Gives a case free memory that the machine really has: see warm.cc. `bytes`: more than the case fills. */
    warm: (bytes = WARM_BYTES) => run(`${tools}warm`, [join(root, 'warm'), String(Math.round(bytes * scale))]),
    /** A number of bytes or files, scaled down for a smoke test. */
    scaled: (amount) => Math.max(1, Math.round(amount * scale)),
    /**
     * Removes a result. A tree of many files is put aside until close(): ext4 does not reuse inodes for minutes after
     * their deletion and passes over them one by one, which made creating the next 20,000 files up to ten times slower.
     */
    async discard(path) {
      const entries = (await stat(path)).isDirectory() ? await readdir(path, { recursive: true }) : [path];
      if (entries.length < MANY_FILES) await rm(path, { recursive: true });
      else await rename(path, join(root, `discarded-${++discarded}`));
    },
    /** Kills running commands; there are some only after a failure. */
    async close() {
      for (const child of running) child.kill();
      await rm(root, { recursive: true, force: true });
    },

    /** A file of random bytes. */
    async randomFile(name, bytes) {
      const file = await open(join(root, name), 'w');
      const chunk = Buffer.alloc(2 ** 20);
      for (let at = 0; at < bytes; at += chunk.length) {
        await file.write(randomFillSync(chunk), 0, Math.min(chunk.length, bytes - at));
      }
      await file.sync();
      await file.close();
      return join(root, name);
    },

    /** A tree of random files of one size. */
    async randomTree(name, { folders, filesEach, bytes }) {
      const content = Buffer.alloc(bytes);
      for (let folder = 0; folder < folders; folder++) {
        const path = join(root, name, `folder ${folder}`);
        await mkdir(path, { recursive: true });
        for (let i = 0; i < filesEach; i++) await writeFile(join(path, `file ${i}`), randomFillSync(content));
      }
      await run('sync', ['-f', root]);
      return join(root, name);
    },

    /** Starts a command under measure; `report()` waits for its end and returns { wall, cpu, rss }. */
    start(command, args, environment = {}, stdin = 'ignore') {
      const file = join(root, `report-${++reports}`);
      const child = spawn(`${tools}measure`, [file, command, ...args], {
        env: { ...env, ...environment },
        stdio: [stdin, 'pipe', 'pipe'],
        timeout: TIMEOUT_MS,
      });
      let complaint = '';
      child.stderr.setEncoding('utf8').on('data', (text) => {
        complaint += text;
      });
      running.add(child);
      const ended = once(child, 'close').finally(() => running.delete(child));
      const lines = createInterface(child.stdout);
      const account = async () => JSON.parse(await readFile(file, 'utf8'));
      return {
        child,
        lines,
        async report() {
          const [code] = await ended;
          if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${complaint}`);
          return account();
        },
        /** Resolves with the first line that matches, such as a server's ready message. */
        line: (pattern) =>
          new Promise((resolve, reject) => {
            lines.on('line', (line) => pattern.test(line) && resolve(line));
            lines.once('close', () => reject(new Error(`${command} ${args.join(' ')} ended early\n${complaint}`)));
          }),
        /** Ends a server; resolves to its account, descendants included, once the last of them has ended. */
        async stop() {
          child.kill();
          await ended;
          return account();
        },
      };
    },

    /** Starts one KeibiDrop command; `prefix` is a command that runs it. */
    keibidrop(args, prefix = []) {
      const [command, ...rest] = [...prefix, process.execPath, cli, ...args];
      return workspace.start(command, rest);
    },

    /**
     * A send and a receive typed together; resolves once both have exited. `total` is the seconds until then, and `up`
     * the seconds until the receiver's session was up. `path` is its connection, and `done` its last line. With `text`,
     * the command sends that and not `source`; `args` apply to both.
     */
    async exchange(source, out, { suite, text, args = [] } = {}) {
      await rm(out, { recursive: true, force: true });
      const port = await freePort();
      const code = `${port}-${CODE_WORDS}`;
      const forced = [...(suite ? ['--suite', suite] : []), ...args];
      const started = performance.now();
      const sender = workspace.keibidrop([
        'send',
        ...(text === undefined ? [source] : ['--text', text]),
        '--json',
        '--code',
        code,
        '--listen',
        `127.0.0.1:${port}`,
        ...forced,
      ]);
      sender.lines.on('line', () => {});
      const receiver = workspace.keibidrop(['receive', code, '--json', '--yes', '--out', out, ...forced]);
      let done;
      let up;
      let path;
      receiver.lines.on('line', (line) => {
        const event = JSON.parse(line);
        if (event.event === 'connected') {
          up = (performance.now() - started) / 1000;
          path = event.path;
        }
        if (event.event === 'done') done = event;
      });
      const [sent, received] = await Promise.all([sender.report(), receiver.report()]);
      return {
        total: (performance.now() - started) / 1000,
        up,
        path,
        done,
        cpu: sent.cpu + received.cpu,
        rss: Math.max(sent.rss, received.rss),
      };
    },
  };
  return workspace;
}

/** The path of a program, daemons included, or undefined. */
export function findProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Makes small calls by small.cc: { seconds, sum }. */
export async function small(...words) {
  return JSON.parse((await run(`${tools}small`, words.map(String))).stdout);
}

/** Throws unless two files, or two trees, hold the same bytes. */
export async function assertEqual(one, other) {
  // diff would read a gigabyte of zeros as one line, into memory.
  const isTree = (await stat(one)).isDirectory();
  await (isTree ? run('diff', ['-r', '--no-dereference', one, other]) : run('cmp', [one, other]));
}

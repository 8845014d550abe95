// SPDX-License-Identifier: MPL-2.0

// Where a benchmark works: data, the built ceiling and measure programs, and commands measured by the kernel's own accounts.
import { execFile, spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const checkout = fileURLToPath(new URL('../', import.meta.url));
const tools = `${checkout}bench/build/`;
const cli = `${checkout}apps/cli/dist/keibidrop.mjs`;
const TIMEOUT_MS = 300_000;
/** What the largest case writes, and some more. */
const WARM_BYTES = 1.5 * 2 ** 30;
const CODE_WORDS = 'guitar-pencil';

export const ceiling = `${tools}ceiling`;

/** Compiles the C++ programs beside this file if they are newer than their products. */
export async function buildTools() {
  await mkdir(tools, { recursive: true });
  for (const [name, libraries] of [
    ['ceiling', ['-lcrypto', '-lpthread']],
    ['measure', []],
    ['warm', []],
  ]) {
    const source = `${checkout}bench/${name}.cc`;
    const [from, to] = await Promise.all([stat(source), stat(tools + name).catch(() => undefined)]);
    if (to && to.mtimeMs > from.mtimeMs) continue;
    await run('g++', ['-std=c++20', '-O3', '-march=native', '-o', tools + name, source, ...libraries]);
  }
}

/** A folder for data with a private runtime directory; everything in it goes with close(). */
export async function openWorkspace(scale) {
  const root = await mkdtemp(join(process.env.KD_BENCH_DIR ?? tmpdir(), 'keibidrop-bench-'));
  await mkdir(join(root, 'runtime'), { mode: 0o700 });
  let reports = 0;
  const env = {
    ...process.env,
    XDG_RUNTIME_DIR: join(root, 'runtime'),
    KD_CONFIG_DIR: join(root, 'config'),
    KD_DISCOVERY: 'off',
  };
  const workspace = {
    path: (name) => join(root, name),
    /** Lets a case begin with free memory that the machine really has: see warm.cc. */
    warm: () => run(`${tools}warm`, [String(Math.round(WARM_BYTES * scale))]),
    /** A number of bytes or files, made smaller for a smoke test. */
    scaled: (amount) => Math.max(1, Math.round(amount * scale)),
    close: () => rm(root, { recursive: true, force: true }),

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

    /** A tree of random files, all of one size. */
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

    /** Starts a command under measure; `report()` waits for its end and gives { wall, cpu, rss }. */
    start(command, args) {
      const file = join(root, `report-${++reports}`);
      const child = spawn(`${tools}measure`, [file, command, ...args], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: TIMEOUT_MS,
      });
      const ended = once(child, 'exit');
      const report = async () => {
        const [code] = await ended;
        if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
        return JSON.parse(await readFile(file, 'utf8'));
      };
      return { child, lines: createInterface(child.stdout), report };
    },

    /** Starts one KeibiDrop command. */
    keibidrop: (args) => workspace.start(process.execPath, [cli, ...args]),

    /** A send and a receive typed together; resolves once both have exited, with the receiver's `done` line. */
    async exchange(source, out, { suite } = {}) {
      await rm(out, { recursive: true, force: true });
      const port = await freePort();
      const code = `${port}-${CODE_WORDS}`;
      const forced = suite ? ['--suite', suite] : [];
      const started = performance.now();
      const sender = workspace.keibidrop([
        'send',
        source,
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
      receiver.lines.on('line', (line) => {
        const event = JSON.parse(line);
        if (event.event === 'done') done = event;
      });
      const [sent, received] = await Promise.all([sender.report(), receiver.report()]);
      return {
        total: (performance.now() - started) / 1000,
        done,
        cpu: sent.cpu + received.cpu,
        rss: Math.max(sent.rss, received.rss),
      };
    },
  };
  return workspace;
}

/** Throws unless two files, or two trees, hold the same bytes. */
export async function assertEqual(one, other) {
  await run('diff', ['-r', '--no-dereference', one, other]);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

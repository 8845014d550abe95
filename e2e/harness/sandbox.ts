// SPDX-License-Identifier: MPL-2.0
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Exit, type JsonEvent, Running } from './running.ts';
import type { Tmux, TmuxWindow } from './tmux.ts';

/** The delivered program; KD_TEST_PROGRAM names another build of it. */
const PROGRAM =
  process.env.KD_TEST_PROGRAM ?? fileURLToPath(new URL('../../apps/cli/dist/keibidrop.cjs', import.meta.url));

/** The code of every test. Runtime directories are private, so tests do not meet each other. */
export const CODE = '7-guitar-pencil';
/** Any free port of the loopback interface. */
export const LISTEN = ['--listen', '127.0.0.1:0'];
/** A user without a name or permissions, for tests that run as root. */
export const NOBODY = 65534;
export const IS_ROOT = process.getuid?.() === 0;

/** A process that runs longer is killed unless a test allows more, so that no test leaves one behind. */
const PROCESS_TIMEOUT_MS = 300_000;

export interface StartOptions {
  env?: Record<string, string>;
  /** The process is killed after this time. */
  timeoutMs?: number;
  /** Arguments for Node itself. */
  node?: string[];
  /** Input, followed by its end; absent: an empty input. `'pipe'` leaves the input open. */
  stdin?: string;
  /** A file that takes standard output instead of `Running.stdout`. */
  stdoutTo?: string;
  /** Runs as this user and group only, with a runtime directory of its own; needs root. */
  uid?: number;
  /** A command that runs the program, such as `['taskset', '--cpu-list', '0']`. */
  under?: string[];
  /** The command that replaces `node PROGRAM`. */
  command?: string[];
}

export interface WindowStart {
  columns: number;
  rows?: number;
  cwd?: string;
  env?: Record<string, string>;
  under?: string[];
}

/** The environment of one test: a home, a private runtime directory, and its processes. */
export class Sandbox {
  readonly home: string;
  readonly #runtimes = new Map<number, string>();
  readonly #processes: Running[] = [];
  readonly #mounts: string[] = [];

  static async open(): Promise<Sandbox> {
    const home = await mkdtemp(join(tmpdir(), 'keibidrop-e2e-'));
    // The user that a test runs as must reach the files inside.
    await chmod(home, 0o755);
    return new Sandbox(home);
  }

  private constructor(home: string) {
    this.home = home;
  }

  path(...parts: string[]): string {
    return join(this.home, ...parts);
  }

  async start(args: string[], options: StartOptions = {}): Promise<Running> {
    const [command = '', ...rest] = [...this.#asUser(options.uid), ...this.#command(options), ...args];
    const spawnOptions: SpawnOptions = {
      cwd: this.home,
      env: await this.#environment(options),
      timeout: options.timeoutMs ?? PROCESS_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    };
    const out = options.stdoutTo === undefined ? undefined : openSync(options.stdoutTo, 'w');
    try {
      const child = spawn(command, rest, { ...spawnOptions, stdio: ['pipe', out ?? 'pipe', 'pipe'] });
      child.stdin?.on('error', () => {});
      if (options.stdin !== 'pipe') child.stdin?.end(options.stdin ?? '');
      const running = new Running(child, out === undefined && args.includes('--json'));
      this.#processes.push(running);
      return running;
    } finally {
      if (out !== undefined) closeSync(out);
    }
  }

  /**
   * Starts `keibidrop ARGS` on its own terminal (util-linux `script`). `stdout` holds everything shown, and `type` is
   * the keyboard.
   * @param after  shell command run on that terminal after the program has ended
   */
  async startOnTerminal(args: string[], after?: string): Promise<Running & { type(text: string): void }> {
    const line = [process.execPath, PROGRAM, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    // On Ctrl-C a waiting shell ends with the program it waits for, unless it traps the signal.
    const all = after === undefined ? line : `trap : INT; ${line}; ${after}`;
    const command = ['script', '--quiet', '--return', '--command', all, '/dev/null'];
    const running = await this.start([], { command, stdin: 'pipe', env: { SHELL: '/bin/sh', TERM: 'xterm' } });
    return Object.assign(running, { type: (text: string) => void running.child.stdin?.write(text) });
  }

  /** Runs `keibidrop ARGS` in a window of tmux with a UTF-8 locale. @param under  a command that runs the program */
  async openWindow(tmux: Tmux, args: string[], options: WindowStart): Promise<TmuxWindow> {
    const { columns, rows, cwd = this.home, env, under = [] } = options;
    const whole = { ...(await this.#environment({})), LANG: 'C.UTF-8', ...env };
    return tmux.open([...under, process.execPath, PROGRAM, ...args], { columns, rows, cwd, env: whole });
  }

  /** Starts a sender and waits until it listens; returns its port. */
  async send(args: string[], options: StartOptions = {}): Promise<{ sender: Running; port: number }> {
    const sender = await this.start(
      ['send', ...args, '--json', ...withDefaults(args, ['--code', CODE], LISTEN)],
      options,
    );
    const { port } = await sender.until('waiting');
    return { sender, port: port as number };
  }

  /** Starts a receiver of CODE that accepts without a question. */
  receive(args: string[] = [], options: StartOptions = {}): Promise<Running> {
    const json = args.includes('--stdout') ? [] : ['--json'];
    return this.start(['receive', CODE, '--yes', ...json, ...args], options);
  }

  /** Sends `paths` into `out` and waits for both sides. */
  async transfer(
    paths: string[],
    { send = [], receive = [] }: { send?: string[]; receive?: string[] } = {},
  ): Promise<Transfer> {
    const { sender } = await this.send([...paths, ...send]);
    const receiver = await this.receive(receive.includes('--out') ? receive : ['--out', 'out', ...receive]);
    return { sender, receiver, exits: await exitsOf({ sender, receiver }) };
  }

  /** Announcements of senders that this test's processes have not withdrawn. */
  async announced(): Promise<string[]> {
    const found: string[] = [];
    for (const runtime of this.#runtimes.values()) {
      found.push(...(await readdir(join(runtime, 'keibidrop', 'senders')).catch(() => [])));
    }
    return found;
  }

  /** Mounts a tmpfs of `bytes` at `name`. Needs root. */
  async mountTmpfs(name: string, bytes: number): Promise<string> {
    const at = this.path(name);
    await mkdir(at);
    run('mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=0755`, 'tmpfs', at);
    this.#mounts.push(at);
    return at;
  }

  /** Kills all running processes and removes everything. */
  async close(): Promise<void> {
    for (const running of this.#processes) running.kill();
    await Promise.allSettled(this.#processes.map(({ ended }) => ended));
    for (const mount of this.#mounts) run('umount', mount);
    await openDirectories(this.home);
    await rm(this.home, { recursive: true, force: true }).catch(() => {
      // A killed daemon leaves the folder beneath its mount immutable.
      spawnSync('chattr', ['-R', '-f', '-i', this.home]);
      return rm(this.home, { recursive: true, force: true });
    });
  }

  #asUser(uid: number | undefined): string[] {
    if (uid === undefined) return [];
    return ['setpriv', '--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups'];
  }

  #command({ command, under = [], node = [] }: StartOptions): string[] {
    return command ?? [...under, process.execPath, ...node, PROGRAM];
  }

  /** Hides the settings of the test process itself. */
  async #environment({ env, uid }: StartOptions): Promise<NodeJS.ProcessEnv> {
    const runtime = await this.#runtimeOf(uid ?? process.getuid?.() ?? 0);
    const binding = process.env.KD_NATIVE_BINDING;
    const backend = process.env.KD_MOUNT_BACKEND;
    return {
      PATH: process.env.PATH,
      ...(backend && { KD_MOUNT_BACKEND: backend }),
      HOME: this.home,
      XDG_RUNTIME_DIR: runtime,
      KD_CONFIG_DIR: join(runtime, 'config'),
      KD_DISCOVERY: 'off',
      // A broken connection ends the transfer at once; tests of reconnecting set their own patience.
      KD_PATIENCE: '0',
      ...(binding === undefined ? {} : { KD_NATIVE_BINDING: binding }),
      ...env,
    };
  }

  async #runtimeOf(uid: number): Promise<string> {
    const known = this.#runtimes.get(uid);
    if (known !== undefined) return known;
    const runtime = this.path(`run-${uid}`);
    await mkdir(runtime, { mode: 0o700, recursive: true });
    if (uid !== process.getuid?.()) await chown(runtime, uid, uid);
    this.#runtimes.set(uid, runtime);
    return runtime;
  }
}

/** A transfer that has ended on both sides. */
export interface Transfer {
  sender: Running;
  receiver: Running;
  exits: { sender: Exit; receiver: Exit };
}

export async function exitsOf({
  sender,
  receiver,
}: {
  sender: Running;
  receiver: Running;
}): Promise<Transfer['exits']> {
  const [senderExit, receiverExit] = await Promise.all([sender.ended, receiver.ended]);
  return { sender: senderExit, receiver: receiverExit };
}

/** The event that ended the run. */
export function lastOf(running: Running): JsonEvent | undefined {
  return running.events().at(-1);
}

/** Runs a system program and returns its output. @throws with its error output if it fails */
export function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: PROCESS_TIMEOUT_MS });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
}

/** Those of `pairs` whose option is missing in `args`. */
function withDefaults(args: string[], ...pairs: string[][]): string[] {
  return pairs.filter(([option = '']) => !args.includes(option)).flat();
}

/** Makes every directory below writable, so that a user other than root can remove it. */
async function openDirectories(path: string): Promise<void> {
  const status = await lstat(path).catch(() => undefined);
  if (!status?.isDirectory() || IS_ROOT) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await openDirectories(join(path, name));
}

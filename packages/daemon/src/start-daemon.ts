// SPDX-License-Identifier: MPL-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type ErrorCode, isErrorCode, KeibiError } from '@keibidrop/protocol';
import { configDirOf, stateDirOf } from '@keibidrop/settings';
import { fileError, withLock } from '@keibidrop/settings/files';

import { readDaemonNote } from './daemon-lock.ts';
import { type DaemonPlace, daemonPlace } from './daemon-socket.ts';
import { LocalClient } from './local/local-client.ts';

/** A longer log is rotated when the next daemon starts. */
const MAX_LOG_BYTES = 1024 * 1024;
const MAX_LINE_BYTES = 64 * 1024;
/** How long a program waits for a daemon that another program has just started. */
const MAX_WAIT_MS = 15_000;
const LOOK_AGAIN_MS = 50;

export interface FindDaemonOptions {
  /** The environment of the program that looks for the daemon. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** `--config`, if it was given. */
  config?: string | undefined;
  /** The command that runs `keibidrop`, to start a daemon where none runs; absent: none is started. */
  program?: readonly string[];
  signal: AbortSignal;
}

/**
 * Connects to this user's daemon, and starts one if needed.
 *
 * @throws DAEMON_UNREACHABLE, DAEMON_INCOMPATIBLE, CONFIG_INVALID; the error that kept it from starting; `signal.reason`
 */
export async function findDaemon(options: FindDaemonOptions): Promise<LocalClient> {
  const { env, cwd, config, program, signal } = options;
  const configDir = configDirOf({ flags: { config }, env, cwd });
  const place = daemonPlace(configDir, env);
  const found = await connectTo(place, { signal }).catch((reason) => {
    if (!isAbsent(reason) || program === undefined) throw reason;
  });
  if (found !== undefined) return found;
  const running = await startDaemon(program ?? [], configDir, { env, signal });
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    try {
      return await connectTo(place, { signal });
    } catch (reason) {
      // A daemon that another program starts holds the lock before it listens.
      if (running === undefined || !isAbsent(reason)) throw reason;
      if (waitedMs >= MAX_WAIT_MS) throw running;
    }
    await setTimeout(LOOK_AGAIN_MS, undefined, { signal });
  }
}

/** Connects to the socket of this program's runtime directory, or to the one that the lock's holder names. */
async function connectTo(
  place: DaemonPlace,
  options: { signal: AbortSignal; anyVersion?: boolean },
): Promise<LocalClient> {
  try {
    return await LocalClient.connect(place, options);
  } catch (reason) {
    const socket = isAbsent(reason) ? (await readDaemonNote(place.lock))?.socket : undefined;
    if (socket === undefined || socket === place.socket) throw reason;
    return LocalClient.connect({ directory: dirname(socket), socket }, options);
  }
}

function isAbsent(reason: unknown): boolean {
  return reason instanceof KeibiError && reason.code === 'DAEMON_UNREACHABLE';
}

/**
 * Ends this user's daemon and waits for its end. @returns  the number of transfers that the next one resumes; undefined if none
 * ran
 */
export async function stopDaemon({
  env,
  cwd,
  config,
  signal,
}: Omit<FindDaemonOptions, 'program'>): Promise<number | undefined> {
  const place = daemonPlace(configDirOf({ flags: { config }, env, cwd }), env);
  const daemon = await connectTo(place, { signal, anyVersion: true }).catch((reason) => {
    if (isAbsent(reason)) return undefined;
    throw reason;
  });
  if (daemon === undefined) return undefined;
  try {
    const { unfinished } = await daemon.call('stop', {}, { signal });
    daemon.close();
    // The daemon releases its lock last.
    await withLock(place.lock, async () => {});
    return unfinished;
  } finally {
    daemon.close();
  }
}

/** Starts a daemon that outlives this process, and waits until it listens. @returns  DAEMON_RUNNING if another starter was faster */
async function startDaemon(
  program: readonly string[],
  configDir: string,
  { env, signal }: Pick<FindDaemonOptions, 'env' | 'signal'>,
): Promise<KeibiError | undefined> {
  const [command = '', ...before] = program;
  const log = await openLog(stateDirOf(configDir));
  try {
    const child = spawn(command, [...before, 'daemon', '--json', '--config', configDir], {
      cwd: '/',
      env,
      detached: true,
      stdio: ['ignore', 'pipe', log.fd],
    });
    child.unref();
    const failed = once(child, 'error', { signal }).then(([cause]) => {
      throw new KeibiError('DAEMON_UNREACHABLE', 'The daemon cannot be started.', { cause });
    });
    failed.catch(() => {});
    const output = child.stdout as Readable;
    const running = await Promise.race([listening(output, signal), failed]);
    output.destroy();
    return running;
  } finally {
    await log.close();
  }
}

/** Reads the first line of a daemon: it listens, or it states why not. */
async function listening(output: AsyncIterable<Buffer>, signal: AbortSignal): Promise<KeibiError | undefined> {
  let text = '';
  for await (const piece of output) {
    signal.throwIfAborted();
    text += piece.toString();
    if (text.includes('\n') || text.length > MAX_LINE_BYTES) break;
  }
  const [line = ''] = text.split('\n');
  const { event, code, message } = parsedLine(line);
  if (event === 'listening') return undefined;
  // Another starter was faster.
  if (code === 'DAEMON_RUNNING') return new KeibiError(code, message);
  throw new KeibiError(
    code !== undefined && isErrorCode(code) ? code : 'DAEMON_UNREACHABLE',
    message ?? 'The daemon ended while it started. Run keibidrop daemon to see why.',
  );
}

function parsedLine(line: string): { event?: string; code?: ErrorCode; message?: string } {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

async function openLog(stateDir: string) {
  const file = join(stateDir, 'daemon.log');
  try {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    if (size > MAX_LOG_BYTES) await rename(file, `${file}.1`);
    return await open(file, 'a', 0o600);
  } catch (cause) {
    throw fileError('CONFIG_INVALID', file, 'written', cause);
  }
}

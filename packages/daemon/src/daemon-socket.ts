// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { chmod, type FileHandle, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { assertPrivate, makePrivate, runtimeDirectory } from '@keibidrop/discovery';
import { KeibiError } from '@keibidrop/protocol';
import { stateDirOf } from '@keibidrop/settings';
import { holdDaemonLock, releaseDaemonLock } from './daemon-lock.ts';

/** Limit of a socket address, its terminating zero excluded. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * The files of the daemon of one configuration directory: a socket in the user's runtime directory, and a lock in the state
 * directory.
 */
export interface DaemonPlace {
  readonly directory: string;
  readonly socket: string;
  /** Shared by all programs, whatever their runtime directory is. */
  readonly lock: string;
  /** Leads a browser to the page. */
  readonly page: string;
}

/** @param configDir  absolute */
export function daemonPlace(configDir: string, env: NodeJS.ProcessEnv = process.env): DaemonPlace {
  const directory = runtimeDirectory(env);
  const name = `daemon-${createHash('sha256').update(configDir).digest('hex').slice(0, 16)}`;
  const socket = join(directory, `${name}.sock`);
  return { directory, socket, lock: join(stateDirOf(configDir), 'daemon.lock'), page: join(directory, `${name}.html`) };
}

/** A listening socket, with the lock that reserves it for this process. */
export interface DaemonSocket {
  readonly server: Server;
  close(): Promise<void>;
}

/**
 * Listens for this user's programs. Only one daemon per configuration directory can.
 *
 * The process that holds the lock is the daemon, and the lock ends with it. An existing socket is a leftover of a dead daemon.
 *
 * @throws DAEMON_RUNNING; CONFIG_INVALID if the runtime directory is open to other users, or its path is too long
 */
export async function listenForClients(
  { directory, socket, lock }: DaemonPlace,
  onClient: (client: Socket) => void,
): Promise<DaemonSocket> {
  assertShort(socket);
  await makePrivate(directory);
  const held = await holdDaemonLock(lock, socket);
  try {
    await rm(socket, { force: true });
    const server = await listening(socket, onClient);
    await chmod(socket, 0o600);
    return { server, close: () => endListening(server, socket, held) };
  } catch (reason) {
    await releaseDaemonLock(held);
    throw reason;
  }
}

/**
 * Connects to the daemon.
 *
 * @throws DAEMON_UNREACHABLE if none runs; CONFIG_INVALID if the runtime directory is open to other users
 */
export async function connectToDaemon({
  directory,
  socket,
}: Pick<DaemonPlace, 'directory' | 'socket'>): Promise<Socket> {
  assertShort(socket);
  if (!(await assertPrivate(directory))) throw new KeibiError('DAEMON_UNREACHABLE');
  return new Promise((resolve, reject) => {
    const client = connect(socket);
    client.once('connect', () => resolve(client));
    client.once('error', (cause) => reject(new KeibiError('DAEMON_UNREACHABLE', undefined, { cause })));
  });
}

function listening(path: string, onClient: (client: Socket) => void): Promise<Server> {
  const server = createServer(onClient);
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(new KeibiError('CONFIG_INVALID', `Cannot listen at ${path}.`, { cause })));
    server.listen(path, () => resolve(server));
  });
}

/** Node removes the socket's file when it closes. No other daemon has created one, since the lock is still held. */
async function endListening(server: Server, socket: string, held: FileHandle): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await rm(socket, { force: true });
  await releaseDaemonLock(held);
}

function assertShort(socket: string): void {
  if (Buffer.byteLength(socket) <= MAX_PATH_BYTES) return;
  throw new KeibiError(
    'CONFIG_INVALID',
    `The path ${socket} is too long for a socket. Set XDG_RUNTIME_DIR to a shorter one.`,
  );
}

// SPDX-License-Identifier: MPL-2.0
import { connect, type Socket } from 'node:net';
import { KeibiError } from '@keibidrop/protocol';
import { formatHostPort, type HostPort } from '../host-port.ts';

/** Limit for a host that does not answer; TCP itself takes two minutes. */
const DIAL_TIMEOUT_MS = 10_000;

/**
 * Opens a TCP connection, trying each address of a name.
 * @throws  PEER_UNREACHABLE with the system's error as its cause; `signal.reason` on abort
 */
export async function dialTcp({ host, port }: HostPort, { signal }: { signal: AbortSignal }): Promise<Socket> {
  signal.throwIfAborted();
  const socket = connect({ host, port, noDelay: true });
  try {
    await connected(socket, signal);
    return socket;
  } catch (cause) {
    socket.on('error', () => {});
    socket.destroy();
    if (signal.aborted) throw signal.reason;
    throw new KeibiError('PEER_UNREACHABLE', `Nothing answers at ${formatHostPort({ host, port })}.`, { cause });
  }
}

function connected(socket: Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      socket.setTimeout(0);
      outcome();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort);
    socket.once('connect', () => settle(resolve));
    socket.once('error', (error) => settle(() => reject(error)));
    socket.setTimeout(DIAL_TIMEOUT_MS, () => settle(() => reject(new Error(`no answer in ${DIAL_TIMEOUT_MS} ms`))));
  });
}

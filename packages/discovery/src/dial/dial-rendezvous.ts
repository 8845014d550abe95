// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { KeibiError } from '@keibidrop/protocol';
import { formatHostPort, type HostPort } from '../host-port.ts';
import { dialFromPort } from './dial-from-port.ts';
import { dialTcp } from './dial-tcp.ts';
import { tlsOver } from './dial-tls.ts';

export interface RendezvousDialOptions {
  /** Dial from this port if it is free (`dialFromPort`), so that the server sees the address that others may dial. Absent: any port. */
  fromPort?: number | undefined;
  signal: AbortSignal;
}

/**
 * Opens a connection to a rendezvous, by TLS if the place asks for it. Later errors need no listener: the gRPC channel over it reports them.
 * @throws  RENDEZVOUS_UNREACHABLE; `signal.reason` on abort
 */
export async function dialRendezvous(place: HostPort, { fromPort, signal }: RendezvousDialOptions): Promise<Socket> {
  try {
    const connection = await dialled(place, fromPort, signal);
    const socket = place.tls ? await tlsOver(connection, place, signal) : connection;
    return socket.on('error', () => {});
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof KeibiError && cause.code === 'RENDEZVOUS_UNREACHABLE') throw cause;
    throw rendezvousUnreachable(place, cause);
  }
}

async function dialled(place: HostPort, fromPort: number | undefined, signal: AbortSignal): Promise<Socket> {
  if (fromPort === undefined) return dialTcp(place, { signal });
  try {
    return await dialFromPort(place, { fromPort, signal });
  } catch (reason) {
    // The system may still hold an earlier connection from that port to the server.
    if (reason instanceof KeibiError && isTaken(reason.cause)) return dialTcp(place, { signal });
    throw reason;
  }
}

/** Whether the port, or the pair of ports, is in use. */
function isTaken(cause: unknown): boolean {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === 'EADDRNOTAVAIL' || code === 'EADDRINUSE';
}

export function rendezvousUnreachable(place: HostPort, cause?: unknown): KeibiError {
  return new KeibiError('RENDEZVOUS_UNREACHABLE', `No rendezvous answers at ${formatHostPort(place)}.`, { cause });
}

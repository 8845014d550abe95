// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { KeibiError } from '@keibidrop/protocol';
import { dialTcp } from './dial-tcp.ts';
import { formatHostPort, type HostPort } from './host-port.ts';

/**
 * Opens a connection to a rendezvous. Its later errors need no listener: the gRPC channel over it learns of them.
 * @throws  RENDEZVOUS_UNREACHABLE; `signal.reason` on abort
 */
export async function dialRendezvous(place: HostPort, { signal }: { signal: AbortSignal }): Promise<Socket> {
  try {
    const socket = await dialTcp(place, { signal });
    return socket.on('error', () => {});
  } catch (cause) {
    signal.throwIfAborted();
    throw rendezvousUnreachable(place, cause);
  }
}

export function rendezvousUnreachable(place: HostPort, cause?: unknown): KeibiError {
  return new KeibiError('RENDEZVOUS_UNREACHABLE', `No rendezvous answers at ${formatHostPort(place)}.`, { cause });
}

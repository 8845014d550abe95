// SPDX-License-Identifier: MPL-2.0
import { Socket } from 'node:net';
import { type Incoming, Listener } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import type { ListenAddress } from '@keibidrop/settings';

/** Limit for one network, of 256 undecided connections. It is high because a relay's address has many guests. */
const UNDECIDED_OF_NETWORK = 128;

/** @throws CONFIG_INVALID if a port that the user asked for is not available; EMFILE or ENFILE as the system reports it */
export function openListener(listen: ListenAddress, onConnection: (incoming: Incoming) => void): Listener {
  const options = { undecidedOfNetwork: UNDECIDED_OF_NETWORK, onConnection };
  const { host, port, orAnyPort } = listen;
  // A machine without IPv6 still has every IPv4 address.
  const withoutIpv6 = () => openListener({ ...listen, host: '0.0.0.0' }, onConnection);
  try {
    return Listener.open({ host, port, ...options });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (orAnyPort && code === 'EADDRINUSE') return Listener.open({ host, port: 0, ...options });
    if (host === '::' && (code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL')) return withoutIpv6();
    // Another port would not help; the caller names the limit.
    if (code === 'EMFILE' || code === 'ENFILE') throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KeibiError(
      'CONFIG_INVALID',
      `Cannot listen on ${host}, port ${port} (${why}). Choose another with --listen.`,
      {
        cause,
      },
    );
  }
}

/** Converts an accepted connection to a Node socket. */
export function socketOf({ fd }: Incoming): Socket {
  return new Socket({ fd, readable: true, writable: true });
}

// SPDX-License-Identifier: MPL-2.0
import { dialTcp } from './dial/dial-tcp.ts';
import type { HostPort } from './host-port.ts';
import type { Dialler, Transport } from './transport.ts';

/** Plain TCP to a sender the user has named (`--connect`) or to an address a peer sends. Finds only `named`, if given. */
export function createDirectTransport(named?: HostPort): Transport {
  return {
    name: 'direct',
    async *find(_mailbox, { signal }) {
      signal.throwIfAborted();
      if (named !== undefined) yield { transport: 'direct', host: named.host, port: named.port };
    },
    dial: dialTcp,
  };
}

/** Dials a port of the sender's router that is mapped to the sender. */
export function createMappedTransport(): Dialler {
  return { name: 'mapped', dial: dialTcp };
}

// SPDX-License-Identifier: MPL-2.0
import { dialTcp } from './dial-tcp.ts';
import type { HostPort } from './host-port.ts';
import type { Dialler, Transport } from './transport.ts';

/** A sender that a person has named (`--connect`), and any address a peer tells: plain TCP. Finds only `named`, if there is one. */
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

/** A port of a sender's router that leads to the sender. */
export function createMappedTransport(): Dialler {
  return { name: 'mapped', dial: dialTcp };
}

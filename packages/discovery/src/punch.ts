// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { dialFromPort } from './dial/dial-from-port.ts';
import type { Dialler } from './transport.ts';

/** Both sides dial at the same moment, or the attempt fails. */
const PUNCH_TIMEOUT_MS = 10_000;

/** Dials a sender behind a NAT from the candidate's `fromPort`, while the sender dials us there (PROTOCOL 2.5). */
export function createPunchTransport(): Dialler {
  return {
    name: 'punched',
    async dial({ host, port, fromPort }, { signal }) {
      if (fromPort === undefined)
        throw new KeibiError('PEER_UNREACHABLE', 'The peer does not know which port we dial from.');
      return dialFromPort({ host, port }, { fromPort, insist: true, timeoutMs: PUNCH_TIMEOUT_MS, signal });
    },
  };
}

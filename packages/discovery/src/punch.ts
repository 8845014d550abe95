// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { dialFromPort } from './dial-from-port.ts';
import type { Dialler } from './transport.ts';

/** Both sides dial at the same moment or not at all. */
const PUNCH_TIMEOUT_MS = 10_000;

/** A sender behind a NAT that dials us, at the candidate's `fromPort`, while we dial it from there (PROTOCOL 2.5). */
export function createPunchTransport(): Dialler {
  return {
    name: 'punched',
    async dial({ host, port, fromPort }, { signal }) {
      if (fromPort === undefined) throw new KeibiError('PEER_UNREACHABLE', 'The peer was not told where we dial from.');
      return dialFromPort({ host, port }, { fromPort, insist: true, timeoutMs: PUNCH_TIMEOUT_MS, signal });
    },
  };
}

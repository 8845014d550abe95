// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import type { Candidate } from '@keibidrop/protocol';

/** One way to reach a sender. */
export interface Dialler {
  /** What `Candidate.transport` says of the candidates this transport can dial. */
  readonly name: string;
  /**
   * Opens a connection; it belongs to the caller. Delays are off (TCP_NODELAY).
   * @throws  PEER_UNREACHABLE with the system's error as its cause; `signal.reason` on abort
   */
  dial(candidate: Candidate, options: { signal: AbortSignal }): Promise<Socket>;
}

/** One way to find a sender and to reach it. Every implementation passes test/transport-contract.ts. */
export interface Transport extends Dialler {
  /**
   * Yields where the owner of `mailbox` may be waiting, best first, and ends when nothing more is to be expected.
   * @param mailbox  32 bytes as lower hex
   * @throws         `signal.reason` on abort
   */
  find(mailbox: string, options: { signal: AbortSignal }): AsyncIterable<Candidate>;
}

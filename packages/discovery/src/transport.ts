// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import type { Candidate } from '@keibidrop/protocol';

/** One way to reach a sender. */
export interface Dialler {
  /** Value of `Candidate.transport` for the candidates that this transport dials. */
  readonly name: string;
  /**
   * Opens a connection that the caller owns, with TCP_NODELAY set.
   * @throws  PEER_UNREACHABLE with the system's error as its cause; `signal.reason` on abort
   */
  dial(candidate: Candidate, options: { signal: AbortSignal }): Promise<Socket>;
}

/** One way to find a sender and to reach it. Every implementation passes test/transport-contract.ts. */
export interface Transport extends Dialler {
  /**
   * Yields the places where the owner of `mailbox` may be waiting, best first, and ends when no more are expected.
   * @param mailbox  32 bytes as lower hex
   * @throws         `signal.reason` on abort
   */
  find(mailbox: string, options: { signal: AbortSignal }): AsyncIterable<Candidate>;
}

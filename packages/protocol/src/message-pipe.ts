// SPDX-License-Identifier: MPL-2.0

/**
 * One conversation between a guest and the owner of a mailbox: whole bodies, in order, each at most `MAX_MAILBOX_BODY_BYTES`.
 *
 * Discovery provides it, session meets over it.
 */
export interface MessagePipe {
  send(body: Uint8Array): Promise<void>;
  /**
   * The next body of the peer, in an array the caller owns.
   *
   * @throws a KeibiError once the conversation has ended; `signal.reason` on abort
   */
  receive(options: { signal: AbortSignal }): Promise<Uint8Array>;
  /** Ends the conversation for both; what was sent is still delivered. Idempotent. */
  close(): void;
}

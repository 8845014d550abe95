// SPDX-License-Identifier: MPL-2.0

/**
 * One conversation between a guest and the owner of a mailbox: complete bodies, in order, each at most `MAX_MAILBOX_BODY_BYTES`.
 *
 * Discovery provides it; session meets over it.
 */
export interface MessagePipe {
  send(body: Uint8Array): Promise<void>;
  /**
   * Resolves with the peer's next body, in an array the caller owns.
   *
   * @throws a KeibiError once the conversation has ended; `signal.reason` on abort
   */
  receive(options: { signal: AbortSignal }): Promise<Uint8Array>;
  /** Ends the conversation for both; bodies already sent are still delivered. Idempotent. */
  close(): void;
}

/** The owner's end of one guest's conversation. */
export interface Conversation extends MessagePipe {
  /** Unique within one mailbox. */
  readonly guest: number;
}

/**
 * An owner's hold on a mailbox, in process or at a server: yields conversations as guests arrive. Iterate it once; it ends with `close`.
 *
 * The server's mailboxes and discovery's remote ones implement it; session's meeting desk serves either.
 */
export interface Owner extends AsyncIterable<Conversation> {
  /** Gives up the mailbox and ends its conversations. Idempotent. */
  close(): void;
}

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

/** The owner's end of one guest's conversation. */
export interface Conversation extends MessagePipe {
  /** Never given twice by one mailbox. */
  readonly guest: number;
}

/**
 * What the owner of a mailbox holds, in process or at a server: the conversations, as guests come. Iterated once; ends with `close`.
 *
 * The server's mailbox and discovery's remote one are such, session's meeting desk is served by either.
 */
export interface Owner extends AsyncIterable<Conversation> {
  /** Gives the mailbox up and ends its conversations. Idempotent. */
  close(): void;
}

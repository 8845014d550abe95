// SPDX-License-Identifier: MPL-2.0
import { type Conversation, Inbox, KeibiError, MAX_MAILBOX_BODY_BYTES, type MessagePipe } from '@keibidrop/protocol';

export interface ConversationLimits {
  /** Bodies that one side has sent and the other has not taken. */
  queuedBodies: number;
  /** A conversation in which nothing is sent for so long ends. */
  idleMs: number;
}

/** Two pipes that meet: what is sent into one comes out of the other. */
export interface PipePair {
  readonly guest: MessagePipe;
  readonly owner: Conversation;
  /** Ends it for both; what was sent is still delivered. Idempotent. */
  end(): void;
}

/**
 * A conversation in memory, with a clock that ends it when nothing is said.
 *
 * @param number  the guest's, for its owner
 * @param onEnd   may be called more than once
 */
export function createConversation(number: number, limits: ConversationLimits, onEnd: () => void): PipePair {
  const toOwner = new Inbox<Uint8Array>(limits.queuedBodies);
  const toGuest = new Inbox<Uint8Array>(limits.queuedBodies);
  const idle = setTimeout(end, limits.idleMs).unref();
  function end(): void {
    clearTimeout(idle);
    toOwner.end(left());
    toGuest.end(left());
    onEnd();
  }
  function pipe(incoming: Inbox<Uint8Array>, outgoing: Inbox<Uint8Array>): MessagePipe {
    return {
      async send(body) {
        if (body.length > MAX_MAILBOX_BODY_BYTES) {
          throw new KeibiError('HANDSHAKE_MALFORMED', `A message of ${body.length} bytes is too long for a mailbox.`);
        }
        outgoing.put(Uint8Array.from(body));
        idle.refresh();
      },
      receive: (options) => incoming.take(options),
      close() {
        incoming.clear();
        end();
      },
    };
  }
  return { guest: pipe(toGuest, toOwner), owner: { guest: number, ...pipe(toOwner, toGuest) }, end };
}

function left(): KeibiError {
  return new KeibiError('PEER_UNREACHABLE', 'The other side left before the meeting was done. Try again.');
}

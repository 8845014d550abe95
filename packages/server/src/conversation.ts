// SPDX-License-Identifier: MPL-2.0
import { type Conversation, Inbox, KeibiError, MAX_MAILBOX_BODY_BYTES, type MessagePipe } from '@keibidrop/protocol';
import type { ConversationPlace } from './conversation-room.ts';

export interface ConversationLimits {
  /** Limit on bodies that one side has sent and the other has not taken. */
  queuedBodies: number;
  /** Idle time after which a conversation ends. */
  idleMs: number;
}

/** Two connected pipes: a body sent into one comes out of the other. */
export interface PipePair {
  readonly guest: MessagePipe;
  readonly owner: Conversation;
  /** Ends the conversation for both; bodies already sent are still delivered. Idempotent. */
  end(): void;
}

/**
 * A conversation in memory that ends when it is idle for too long.
 *
 * @param number  the guest's number, as its owner sees it
 * @param place   is left at the end
 * @param onEnd   may be called more than once
 */
export function createConversation(
  number: number,
  limits: ConversationLimits,
  place: ConversationPlace,
  onEnd: () => void,
): PipePair {
  const toOwner = new CountedInbox(limits.queuedBodies, place);
  const toGuest = new CountedInbox(limits.queuedBodies, place);
  const idle = setTimeout(end, limits.idleMs).unref();
  function end(): void {
    clearTimeout(idle);
    toOwner.end(left());
    toGuest.end(left());
    place.leave();
    onEnd();
  }
  function pipe(incoming: CountedInbox, outgoing: CountedInbox): MessagePipe {
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

/** An inbox whose bodies count for a place until they are taken or dropped. */
class CountedInbox extends Inbox<Uint8Array> {
  readonly #place: ConversationPlace;
  #held = 0;

  constructor(capacity: number, place: ConversationPlace) {
    super(capacity);
    this.#place = place;
  }

  override put(body: Uint8Array): void {
    this.#place.hold(body.length);
    try {
      super.put(body);
      this.#held += body.length;
    } catch (reason) {
      this.#place.release(body.length);
      throw reason;
    }
  }

  override async take(options: { signal: AbortSignal }): Promise<Uint8Array> {
    const body = await super.take(options);
    // `clear` may have released the body in between.
    this.#release(Math.min(body.length, this.#held));
    return body;
  }

  override clear(): void {
    super.clear();
    this.#release(this.#held);
  }

  #release(bytes: number): void {
    this.#held -= bytes;
    this.#place.release(bytes);
  }
}

function left(): KeibiError {
  return new KeibiError('PEER_UNREACHABLE', 'The other side left before the meeting was complete. Try again.');
}

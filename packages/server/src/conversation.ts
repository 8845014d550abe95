// SPDX-License-Identifier: MPL-2.0
import { type Conversation, Inbox, KeibiError, MAX_MAILBOX_BODY_BYTES, type MessagePipe } from '@keibidrop/protocol';
import type { ConversationPlace } from './conversation-room.ts';

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
    // It may have been cleared in between.
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
  return new KeibiError('PEER_UNREACHABLE', 'The other side left before the meeting was done. Try again.');
}

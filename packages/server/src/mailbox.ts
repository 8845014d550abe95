// SPDX-License-Identifier: MPL-2.0
import {
  type Conversation,
  Inbox,
  KeibiError,
  MAX_MAILBOX_BODY_BYTES,
  type MessagePipe,
  type Owner,
} from '@keibidrop/protocol';
import { GuessLimit } from './guess-limit.ts';
import { NetworkCount } from './network.ts';

export interface MailboxLimits {
  /** Mailboxes with an owner at one time. */
  mailboxes: number;
  /** Of those, with an owner in one network. */
  mailboxesPerNetwork: number;
  /** Attempts of one network a minute to join mailboxes that are not there or to own mailboxes that are taken. */
  guessesPerMinute: number;
  /** Guests of one mailbox at one time. */
  guests: number;
  /** Bodies that one side of a conversation has sent and the other has not taken. */
  queuedBodies: number;
  /** A conversation in which nothing is sent for so long ends. */
  idleMs: number;
}

/** Enough for one sender that embeds its rendezvous. */
export const EMBEDDED_LIMITS: MailboxLimits = {
  mailboxes: 1,
  mailboxesPerNetwork: Number.POSITIVE_INFINITY,
  guessesPerMinute: Number.POSITIVE_INFINITY,
  guests: 64,
  queuedBodies: 16,
  idleMs: 60_000,
};

/** The owner or guest in this process. */
const HERE = '';

/** Mailboxes in memory: each has one owner, and any number of guests up to the limit that each talk with the owner alone (PROTOCOL 2.2). */
export class Mailboxes {
  readonly #limits: MailboxLimits;
  readonly #owned = new Map<string, Mailbox>();
  readonly #networks = new NetworkCount();
  readonly #guesses: GuessLimit;
  #closing = false;

  constructor(limits: MailboxLimits) {
    this.#limits = limits;
    this.#guesses = new GuessLimit(limits.guessesPerMinute);
  }

  /** Mailboxes with an owner. */
  get size(): number {
    return this.#owned.size;
  }

  /** Attempts turned away because their network had guessed too often, ever. */
  get guessesRefused(): number {
    return this.#guesses.refused;
  }

  /**
   * Takes a mailbox for its owner.
   * @param mailbox  32 bytes as lower hex
   * @param network  of the owner, by `networkOf`
   * @throws         RENDEZVOUS_BUSY if it has an owner, or there are too many mailboxes
   */
  own(mailbox: string, network: string = HERE): Owner {
    this.#assertOpen();
    this.#guesses.assertMayTry(network);
    if (this.#owned.has(mailbox)) {
      this.#guesses.miss(network);
      throw new KeibiError('RENDEZVOUS_BUSY', 'Another sender waits under that number.');
    }
    const { mailboxes, mailboxesPerNetwork } = this.#limits;
    if (this.#owned.size >= mailboxes || this.#networks.of(network) >= mailboxesPerNetwork) {
      throw new KeibiError('RENDEZVOUS_BUSY', 'The rendezvous has no mailbox left.');
    }
    const owned = new Mailbox(this.#limits, () => {
      if (this.#owned.delete(mailbox)) this.#networks.remove(network);
    });
    this.#owned.set(mailbox, owned);
    this.#networks.add(network);
    return owned;
  }

  /** Enters a mailbox as a guest. @throws RENDEZVOUS_NOT_FOUND if nobody owns it, RENDEZVOUS_BUSY if it is full */
  join(mailbox: string, network: string = HERE): MessagePipe {
    this.#assertOpen();
    this.#guesses.assertMayTry(network);
    const owned = this.#owned.get(mailbox);
    if (owned === undefined) {
      this.#guesses.miss(network);
      throw new KeibiError('RENDEZVOUS_NOT_FOUND');
    }
    return owned.join();
  }

  /** Lets nobody in any more; conversations go on. */
  drain(): void {
    this.#closing = true;
  }

  close(): void {
    for (const mailbox of [...this.#owned.values()]) mailbox.close();
  }

  #assertOpen(): void {
    if (this.#closing)
      throw new KeibiError('RENDEZVOUS_BUSY', 'The rendezvous is about to end. Try again in a moment.');
  }
}

class Mailbox implements Owner {
  readonly #limits: MailboxLimits;
  readonly #onClose: () => void;
  readonly #arrivals: Inbox<Conversation>;
  readonly #running = new Set<{ end(): void }>();
  #lastGuest = 0;

  constructor(limits: MailboxLimits, onClose: () => void) {
    this.#limits = limits;
    this.#onClose = onClose;
    this.#arrivals = new Inbox(limits.guests);
  }

  join(): MessagePipe {
    if (this.#running.size >= this.#limits.guests) {
      throw new KeibiError(
        'RENDEZVOUS_BUSY',
        'Too many receivers are meeting this sender at once. Try again in a moment.',
      );
    }
    const conversation = createConversation(++this.#lastGuest, this.#limits, () => this.#running.delete(conversation));
    this.#arrivals.put(conversation.owner);
    this.#running.add(conversation);
    return conversation.guest;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Conversation> {
    const { signal } = new AbortController();
    for (;;) {
      try {
        yield await this.#arrivals.take({ signal });
      } catch (reason) {
        if (reason === MAILBOX_CLOSED) return;
        throw reason;
      }
    }
  }

  close(): void {
    this.#arrivals.clear();
    this.#arrivals.end(MAILBOX_CLOSED);
    for (const conversation of [...this.#running]) conversation.end();
    this.#onClose();
  }
}

const MAILBOX_CLOSED = new KeibiError('SESSION_CLOSED', 'The mailbox was given up.');

/** Two pipes that meet, and a clock that ends them when nothing is said. `onEnd` may be called more than once. */
function createConversation(guest: number, limits: MailboxLimits, onEnd: () => void) {
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
  return { guest: pipe(toGuest, toOwner), owner: { guest, ...pipe(toOwner, toGuest) }, end };
}

function left(): KeibiError {
  return new KeibiError('PEER_UNREACHABLE', 'The other side left before the meeting was done. Try again.');
}

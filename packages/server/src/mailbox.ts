// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { type Conversation, Inbox, KeibiError, type MessagePipe, type Owner } from '@keibidrop/protocol';
import { type ConversationLimits, createConversation } from './conversation.ts';
import { type ConversationPlace, ConversationRoom, type ConversationRoomLimits } from './conversation-room.ts';
import { GuessLimit } from './guess-limit.ts';
import { NetworkCount } from './network.ts';

export interface MailboxLimits extends ConversationLimits {
  /** Mailboxes with an owner at one time. */
  mailboxes: number;
  /** Mailboxes of which the owner is in one network. */
  mailboxesPerNetwork: number;
  /** Failed attempts of one network per minute: joining a missing mailbox, or owning a taken one. */
  guessesPerMinute: number;
  /** The same three for mailboxes of contacts. Their names are secret, so a miss is an absent contact and not a guess. */
  contactMailboxes: number;
  contactMailboxesPerNetwork: number;
  contactMissesPerMinute: number;
  /** Guests of one mailbox at one time, in total and from one network. */
  guests: number;
  guestsPerNetwork: number;
  /** Conversations in all mailboxes of numbers, and in all mailboxes of contacts. */
  meetings: ConversationRoomLimits;
  contactMeetings: ConversationRoomLimits;
}

const MIB = 1024 * 1024;
/** The same limit as at a public server: trying all numbers does the same harm here. */
const EMBEDDED_GUESSES_PER_MINUTE = 30;
const EMBEDDED_MEETINGS: ConversationRoomLimits = {
  conversations: 1024,
  conversationsPerNetwork: 256,
  queuedBytes: 8 * MIB,
  queuedBytesPerNetwork: 2 * MIB,
};

/** Enough for one sender with an embedded rendezvous. */
export const EMBEDDED_LIMITS: MailboxLimits = {
  mailboxes: 1,
  mailboxesPerNetwork: Number.POSITIVE_INFINITY,
  guessesPerMinute: EMBEDDED_GUESSES_PER_MINUTE,
  contactMailboxes: 0,
  contactMailboxesPerNetwork: Number.POSITIVE_INFINITY,
  contactMissesPerMinute: Number.POSITIVE_INFINITY,
  guests: 64,
  guestsPerNetwork: 32,
  meetings: EMBEDDED_MEETINGS,
  contactMeetings: EMBEDDED_MEETINGS,
  queuedBodies: 16,
  idleMs: 60_000,
};

/** Network name of an owner or guest in this process. */
const HERE = '';

/** A mailbox belongs to a number or to a pair of contacts. A request for one kind never finds the other. */
export type MailboxKind = 'number' | 'contact';

/** Key of a contacts' mailbox, 32 bytes as lower hex. The hash keeps requests for numbers from reaching it. */
export function contactMailbox(name: Uint8Array): string {
  return createHash('sha256').update('KeibiDrop contact mailbox at a rendezvous').update(name).digest('hex');
}

/** Where owners and guests meet: on this server alone, or on several. */
export interface MailboxStore {
  /**
   * Takes a mailbox for its owner.
   *
   * @param mailbox  32 bytes as lower hex
   * @param network  of the owner, by `networkOf`
   * @param owner    identifies the owner, or ''; the same owner takes its mailbox over from an attachment that has died
   * @throws         RENDEZVOUS_BUSY if another owns it (`detail.taken`), or there are too many mailboxes
   */
  own(mailbox: string, network: string, owner: string, kind: MailboxKind): Owner | Promise<Owner>;
  /** Enters a mailbox as a guest. @throws RENDEZVOUS_NOT_FOUND if it has no owner, RENDEZVOUS_BUSY if it is full */
  join(mailbox: string, network: string, kind: MailboxKind): MessagePipe | Promise<MessagePipe>;
}

/** Mailboxes in memory. Each has one owner and a limited number of guests, each of whom talks only with the owner (PROTOCOL 2.2). */
export class Mailboxes implements MailboxStore {
  readonly limits: MailboxLimits;
  readonly #owned = new Map<string, Mailbox>();
  readonly #shelves: Readonly<Record<MailboxKind, Shelf>>;
  #closing = false;

  constructor(limits: MailboxLimits) {
    this.limits = limits;
    const { contactMailboxes, contactMailboxesPerNetwork, contactMissesPerMinute, contactMeetings } = limits;
    this.#shelves = {
      number: new Shelf(limits.mailboxes, limits.mailboxesPerNetwork, limits.guessesPerMinute, limits.meetings),
      contact: new Shelf(contactMailboxes, contactMailboxesPerNetwork, contactMissesPerMinute, contactMeetings),
    };
  }

  /** Current number of mailboxes with an owner. */
  get size(): number {
    return this.#owned.size;
  }

  /** Attempts refused because their network had missed too often, since the start. */
  get guessesRefused(): number {
    return this.#shelves.number.guesses.refused + this.#shelves.contact.guesses.refused;
  }

  /** Current number of conversations. */
  get conversations(): number {
    return this.#shelves.number.room.size + this.#shelves.contact.room.size;
  }

  /** Conversations refused or ended for lack of room, since the start. */
  get conversationsRefused(): number {
    return this.#shelves.number.room.refused + this.#shelves.contact.room.refused;
  }

  own(mailbox: string, network: string = HERE, owner = '', kind: MailboxKind = 'number'): Owner {
    this.assertMayTry(network, kind);
    const before = this.#owned.get(mailbox);
    if (before !== undefined && (owner === '' || before.owner !== owner)) {
      this.missed(network, kind);
      throw mailboxTaken();
    }
    before?.close();
    const shelf = this.#shelves[kind];
    shelf.assertRoom(network);
    const owned = new Mailbox(owner, this.limits, shelf.room, () => {
      if (this.#owned.get(mailbox) !== owned) return;
      this.#owned.delete(mailbox);
      shelf.remove(network);
    });
    this.#owned.set(mailbox, owned);
    shelf.add(network);
    return owned;
  }

  join(mailbox: string, network: string = HERE, kind: MailboxKind = 'number'): MessagePipe {
    this.assertMayTry(network, kind);
    const pipe = this.tryEnter(mailbox, network);
    if (pipe !== undefined) return pipe;
    this.missed(network, kind);
    throw new KeibiError('RENDEZVOUS_NOT_FOUND');
  }

  /** Enters a mailbox without counting a miss; undefined if it has no owner here. @throws RENDEZVOUS_BUSY if it is full */
  tryEnter(mailbox: string, network: string): MessagePipe | undefined {
    return this.#owned.get(mailbox)?.join(network);
  }

  /** Room for a conversation between a guest here and an owner at another server. @throws RENDEZVOUS_BUSY */
  placeFor(network: string, kind: MailboxKind): ConversationPlace {
    return this.#shelves[kind].room.enter(network);
  }

  /** @throws RENDEZVOUS_BUSY if the server is draining, or the network has missed too often */
  assertMayTry(network: string, kind: MailboxKind): void {
    if (this.#closing) {
      throw new KeibiError('RENDEZVOUS_BUSY', 'The rendezvous is shutting down. Try again in a moment.');
    }
    this.#shelves[kind].guesses.assertMayTry(network);
  }

  /** Counts a miss: the network tried a mailbox that is missing or has another owner. */
  missed(network: string, kind: MailboxKind): void {
    this.#shelves[kind].guesses.miss(network);
  }

  /** Admits no more owners or guests; conversations continue. */
  drain(): void {
    this.#closing = true;
  }

  close(): void {
    for (const mailbox of [...this.#owned.values()]) mailbox.close();
  }
}

/** The mailboxes of one kind: their number, and the misses of each network. */
class Shelf {
  readonly guesses: GuessLimit;
  readonly room: ConversationRoom;
  readonly #most: number;
  readonly #mostOfNetwork: number;
  readonly #networks = new NetworkCount();
  #size = 0;

  constructor(most: number, mostOfNetwork: number, missesPerMinute: number, meetings: ConversationRoomLimits) {
    this.#most = most;
    this.#mostOfNetwork = mostOfNetwork;
    this.guesses = new GuessLimit(missesPerMinute);
    this.room = new ConversationRoom(meetings);
  }

  /** @throws RENDEZVOUS_BUSY */
  assertRoom(network: string): void {
    if (this.#size >= this.#most || !this.#networks.hasRoom(network, this.#mostOfNetwork)) {
      throw new KeibiError('RENDEZVOUS_BUSY', 'The rendezvous has no mailbox left.');
    }
  }

  add(network: string): void {
    this.#size++;
    this.#networks.add(network);
  }

  remove(network: string): void {
    this.#size--;
    this.#networks.remove(network);
  }
}

class Mailbox implements Owner {
  readonly owner: string;
  readonly #limits: MailboxLimits;
  readonly #room: ConversationRoom;
  readonly #onClose: () => void;
  readonly #networks = new NetworkCount();
  readonly #arrivals: Inbox<Conversation>;
  readonly #running = new Set<{ end(): void }>();
  #lastGuest = 0;

  constructor(owner: string, limits: MailboxLimits, room: ConversationRoom, onClose: () => void) {
    this.owner = owner;
    this.#limits = limits;
    this.#room = room;
    this.#onClose = onClose;
    this.#arrivals = new Inbox(limits.guests);
  }

  join(network: string): MessagePipe {
    const { guests, guestsPerNetwork } = this.#limits;
    const isCrowded = network !== '' && !this.#networks.hasRoom(network, guestsPerNetwork);
    if (isCrowded || this.#running.size >= guests) {
      throw new KeibiError(
        'RENDEZVOUS_BUSY',
        'Too many receivers are meeting this sender at once. Try again in a moment.',
      );
    }
    const place = this.#room.enter(network);
    const conversation = createConversation(++this.#lastGuest, this.#limits, place, () => {
      if (this.#running.delete(conversation)) this.#networks.remove(network);
    });
    this.#running.add(conversation);
    this.#networks.add(network);
    try {
      this.#arrivals.put(conversation.owner);
    } catch (reason) {
      conversation.end();
      throw reason;
    }
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

/** A taken number, as opposed to a full server: another number may be free. */
export function mailboxTaken(): KeibiError {
  return new KeibiError('RENDEZVOUS_BUSY', 'Another sender waits under that number.', { detail: { taken: true } });
}

const MAILBOX_CLOSED = new KeibiError('SESSION_CLOSED', 'The mailbox was given up.');

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
  /** Of those, with an owner in one network. */
  mailboxesPerNetwork: number;
  /** Attempts of one network a minute to join mailboxes that are not there or to own mailboxes that are taken. */
  guessesPerMinute: number;
  /** The same three for the mailboxes of contacts, whose names are secrets: a miss is no guess, but somebody who is not there. */
  contactMailboxes: number;
  contactMailboxesPerNetwork: number;
  contactMissesPerMinute: number;
  /** Guests of one mailbox at one time, and those of one network. */
  guests: number;
  guestsPerNetwork: number;
  /** Conversations in all mailboxes of numbers, and in all of contacts. */
  meetings: ConversationRoomLimits;
  contactMeetings: ConversationRoomLimits;
}

const MIB = 1024 * 1024;
/** As many guesses of a network as at a server for strangers: trying all numbers is as bad here. */
const EMBEDDED_GUESSES_PER_MINUTE = 30;
const EMBEDDED_MEETINGS: ConversationRoomLimits = {
  conversations: 1024,
  conversationsPerNetwork: 256,
  queuedBytes: 8 * MIB,
  queuedBytesPerNetwork: 2 * MIB,
};

/** Enough for one sender that embeds its rendezvous. */
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

/** The owner or guest in this process. */
const HERE = '';

/** Whose mailboxes: those of numbers, or those of contacts. Neither is found as the other, whatever its name. */
export type MailboxKind = 'number' | 'contact';

/** Under what a contacts' mailbox is kept, 32 bytes as lower hex: nobody who asks for a number can come upon it. */
export function contactMailbox(name: Uint8Array): string {
  return createHash('sha256').update('KeibiDrop contact mailbox at a rendezvous').update(name).digest('hex');
}

/** Where owners and guests find one another: on this server alone, or on several. */
export interface MailboxStore {
  /**
   * Takes a mailbox for its owner.
   *
   * @param mailbox  32 bytes as lower hex
   * @param network  of the owner, by `networkOf`
   * @param owner    by what it is known again, if by anything: the same one takes its mailbox over from an attachment that has died
   * @throws         RENDEZVOUS_BUSY if another owns it (`detail.taken`), or there are too many mailboxes
   */
  own(mailbox: string, network: string, owner: string, kind: MailboxKind): Owner | Promise<Owner>;
  /** Enters a mailbox as a guest. @throws RENDEZVOUS_NOT_FOUND if nobody owns it, RENDEZVOUS_BUSY if it is full */
  join(mailbox: string, network: string, kind: MailboxKind): MessagePipe | Promise<MessagePipe>;
}

/** Mailboxes in memory: each has one owner, and any number of guests up to the limit that each talk with the owner alone (PROTOCOL 2.2). */
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

  /** Mailboxes with an owner. */
  get size(): number {
    return this.#owned.size;
  }

  /** Attempts turned away because their network had guessed too often, ever. */
  get guessesRefused(): number {
    return this.#shelves.number.guesses.refused + this.#shelves.contact.guesses.refused;
  }

  /** Conversations at this moment. */
  get conversations(): number {
    return this.#shelves.number.room.size + this.#shelves.contact.room.size;
  }

  /** Conversations that were refused or ended for want of room, ever. */
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

  /** Enters a mailbox for a guest that has not guessed; undefined if nobody owns it here. @throws RENDEZVOUS_BUSY if it is full */
  tryEnter(mailbox: string, network: string): MessagePipe | undefined {
    return this.#owned.get(mailbox)?.join(network);
  }

  /** For a conversation of a guest of ours with an owner at another server. @throws RENDEZVOUS_BUSY */
  placeFor(network: string, kind: MailboxKind): ConversationPlace {
    return this.#shelves[kind].room.enter(network);
  }

  /** @throws RENDEZVOUS_BUSY if nobody is let in any more, or the network has guessed too often */
  assertMayTry(network: string, kind: MailboxKind): void {
    if (this.#closing) {
      throw new KeibiError('RENDEZVOUS_BUSY', 'The rendezvous is about to end. Try again in a moment.');
    }
    this.#shelves[kind].guesses.assertMayTry(network);
  }

  /** A network has tried a mailbox that is not there, or that another owns. */
  missed(network: string, kind: MailboxKind): void {
    this.#shelves[kind].guesses.miss(network);
  }

  /** Lets nobody in any more; conversations go on. */
  drain(): void {
    this.#closing = true;
  }

  close(): void {
    for (const mailbox of [...this.#owned.values()]) mailbox.close();
  }
}

/** The mailboxes of one kind: how many there are, and who misses them. */
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

/** Not a matter of room: another number may be free. */
export function mailboxTaken(): KeibiError {
  return new KeibiError('RENDEZVOUS_BUSY', 'Another sender waits under that number.', { detail: { taken: true } });
}

const MAILBOX_CLOSED = new KeibiError('SESSION_CLOSED', 'The mailbox was given up.');

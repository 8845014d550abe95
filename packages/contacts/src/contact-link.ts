// SPDX-License-Identifier: MPL-2.0
import type { Conversation, Farewell, Invitation, MessagePipe } from '@keibidrop/protocol';
import {
  type IdentityKeys,
  type MetContact,
  mailboxDays,
  meetContactAsGuest,
  meetContactAsOwner,
  PairKey,
  type PublicKeys,
} from '@keibidrop/session';
import type { Contact } from './contact.ts';
import { ContactConversation, type ConversationMessage, isRotation } from './contact-conversation.ts';
import { ContactDialer } from './contact-dialer.ts';
import type { Place } from './contact-endpoint.ts';
import { type AnnouncementOutcome, IdentityChange, type KeyDecision } from './identity-change.ts';
import { type ReceivedInvitation, ReceivedInvitations } from './received-invitations.ts';
import { type DeliverOptions, type FinalVerdict, SentInvitations } from './sent-invitations.ts';

export interface ContactLinkOptions {
  self: IdentityKeys;
  /** False: we only visit, and accept no invitations. */
  resident: boolean;
  join(mailbox: string, place: Place, options: { signal: AbortSignal }): Promise<MessagePipe>;
  /** Called on change: whether a conversation exists in which the contact can be invited. */
  onHere(here: boolean): void;
  onInvitation(invitation: ReceivedInvitation): void;
  /** The contact says that it has blocked us. */
  onBlocked(): void;
  /** The contact has proved its identity. `paired`: it came to the mailbox of both keys. */
  onMet(met: { keys: PublicKeys; paired: boolean }): void;
  /** As in IdentityChangeOptions. */
  mayRenew: KeyDecision;
  renew: KeyDecision;
  /**
   * Set when `self` is a former identity: the link only announces `next`. It shows no presence and accepts no
   * invitations.
   */
  announce?: { readonly next: IdentityKeys; onOutcome(outcome: AnnouncementOutcome): void };
}

/** Limit of guests in our mailbox that have not proved to be the contact yet. */
const MAX_MEETINGS = 4;
const MEETING_MS = 10_000;
/** Limit of conversations with one contact: two of daemons that dial at the same time, and those of its sends. */
const MAX_TALKS = 8;

/**
 * Everything between us and one contact: the mailboxes of both, the conversations, and invitations in both directions.
 */
export class ContactLink {
  #contact: Contact;
  readonly #options: ContactLinkOptions;
  readonly #talks = new Set<ContactConversation>();
  readonly #dialer: ContactDialer;
  readonly #received: ReceivedInvitations;
  readonly #sent = new SentInvitations(() => this.#talks);
  /**
   * The key of both public keys first, then the key of a first contact: a restored contact may know only our
   * fingerprint.
   */
  #pairs: PairKey[] = [];
  #own = new Map<string, PairKey>();
  #wanted = new Map<string, PairKey>();
  #meetings = 0;
  #here = false;
  #closed = false;

  private constructor(contact: Contact, options: ContactLinkOptions) {
    this.#contact = contact;
    this.#options = options;
    this.#received = new ReceivedInvitations((invitation) => options.onInvitation(invitation));
    this.#dialer = new ContactDialer({
      isWanted: () => !this.#contact.blocked && !this.#closed && !this.#hasResident(),
      visit: (mailbox, place, { signal }) => this.#visit(mailbox, place, signal),
    });
  }

  static async open(contact: Contact, options: ContactLinkOptions): Promise<ContactLink> {
    const link = new ContactLink(contact, options);
    await link.#derive();
    return link;
  }

  get contact(): Contact {
    return this.#contact;
  }

  /** Our identity for this contact. */
  get self(): IdentityKeys {
    return this.#options.self;
  }

  /** Our mailboxes that are kept for the contact, and its mailboxes in which we visit it. */
  get mailboxes(): { own: readonly string[]; wanted: readonly string[] } {
    const wanted = this.#contact.blocked ? [] : [...this.#wanted.keys()];
    return { own: this.#options.resident ? [...this.#own.keys()] : [], wanted };
  }

  /** Takes over the contact's current state: its name, block and keys. */
  async update(contact: Contact): Promise<void> {
    const { keys, paired, blocked } = this.#contact;
    this.#contact = contact;
    if ((keys === undefined) !== (contact.keys === undefined) || paired !== contact.paired) await this.#derive();
    if (!contact.blocked) {
      if (blocked) this.#dialer.retry();
      return;
    }
    this.#received.close();
    for (const talk of [...this.#talks]) talk.close('blocked');
  }

  /** Recomputes the mailbox names, which change daily. */
  turnPage(nowMs: number): void {
    const named = (owner: 'self' | 'peer', pairs: readonly PairKey[]) =>
      new Map(mailboxDays(nowMs).flatMap((day) => pairs.map((pair) => [pair.mailbox(owner, day), pair] as const)));
    const visited = this.#pairs.filter(({ peer }) => peer.keys !== undefined || !this.#contact.paired);
    this.#own = named('self', this.#pairs);
    this.#wanted = named('peer', visited);
    this.#dialer.keep(new Set(this.#wanted.keys()));
  }

  /** Adds a place where one of the contact's mailboxes may be. */
  addPlace(mailbox: string, place: Place, fresh: boolean): void {
    this.#dialer.addPlace(mailbox, place, fresh);
  }

  /** Tries all places at once, unless the contact is online. */
  retry(): void {
    this.#dialer.retry();
  }

  /** Meets a guest in one of our mailboxes. */
  async greet(mailbox: string, guest: Conversation): Promise<void> {
    const pair = this.#own.get(mailbox);
    if (pair === undefined || this.#meetings >= MAX_MEETINGS || this.#closed) return guest.close();
    this.#meetings++;
    try {
      const { self } = this.#options;
      const { blocked } = this.#contact;
      const met = await meetContactAsOwner(guest, { self, pair, blocked, signal: AbortSignal.timeout(MEETING_MS) });
      this.#begin(met, 'owner', pair);
    } catch {
      // The guest has its refusal and has proved nothing.
    } finally {
      this.#meetings--;
    }
  }

  /** A caller waits for the contact: looks for it at once, unless it is online. */
  seek(): void {
    if (!this.#hasResident()) this.#dialer.insist();
  }

  /** As SentInvitations.deliver. */
  deliver(invitation: Invitation, options: DeliverOptions): Promise<FinalVerdict | 'moved'> {
    const delivering = this.#sent.deliver(invitation, options);
    this.seek();
    return delivering;
  }

  /** Ends every `deliver` as moved, because another link replaces this one. */
  release(): void {
    this.#sent.release();
  }

  /** Announces that we leave, and closes. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#dialer.close();
    this.#received.close();
    for (const talk of [...this.#talks]) talk.close('leaving');
    for (const pair of this.#pairs) pair.wipe();
  }

  async #derive(): Promise<void> {
    const { keys, fingerprint } = this.#contact;
    const { self } = this.#options;
    const before = this.#pairs;
    this.#pairs = await Promise.all([
      ...(keys === undefined ? [] : [PairKey.of(self, keys)]),
      PairKey.ofFingerprints(self.fingerprint, fingerprint),
    ]);
    this.turnPage(Date.now());
    for (const pair of before) pair.wipe();
  }

  async #visit(mailbox: string, place: Place, signal: AbortSignal): Promise<void> {
    const pair = this.#wanted.get(mailbox);
    if (pair === undefined) return;
    const pipe = await this.#options.join(mailbox, place, { signal });
    try {
      this.#begin(await meetContactAsGuest(pipe, { self: this.#options.self, pair, signal }), 'guest', pair);
    } catch (reason) {
      if (isBlocked(reason)) this.#blocked();
      throw reason;
    }
  }

  /** Starts a conversation that has reached the contact. */
  #begin({ conversation, keys }: MetContact, side: 'guest' | 'owner', pair: PairKey): void {
    const { resident, announce, onMet } = this.#options;
    if (this.#closed || this.#contact.blocked) {
      conversation.close();
      return;
    }
    onMet({ keys, paired: side === 'owner' && pair.peer.keys !== undefined });
    const talk: ContactConversation = new ContactConversation(conversation, side, {
      resident: resident && announce === undefined,
      onMessage: (message) => this.#take(message, talk, change),
      onResident: () => {
        this.#sent.sendAll(talk);
        this.#settle();
        this.#changed();
      },
      onEnd: (farewell) => this.#ended(talk, farewell, change),
    });
    const change = this.#changeIn(talk, keys);
    this.#talks.add(talk);
    const [oldest] = this.#talks;
    if (this.#talks.size > MAX_TALKS) oldest?.close('leaving');
    this.#settle();
    change.announce();
  }

  #changeIn(talk: ContactConversation, peer: PublicKeys): IdentityChange {
    const { self, announce, mayRenew, renew } = this.#options;
    return new IdentityChange({
      self,
      peer,
      announced: announce?.next,
      mayRenew,
      renew,
      send: (message) => talk.send(message),
      onAnswer: (answer) => announce?.onOutcome(answer),
    });
  }

  #take(message: ConversationMessage, talk: ContactConversation, change: IdentityChange): void {
    if (isRotation(message)) change.take(message).catch(() => talk.close('leaving'));
    else if (message.kind === 'invite') this.#invited(message.invitation, talk);
    else if (message.kind === 'invite-reply') this.#sent.take(message.id, message.verdict);
    else this.#received.withdraw(message.id);
  }

  #invited(invitation: Invitation, talk: ContactConversation): void {
    // A visitor is present for its own invitation only.
    const { resident, announce } = this.#options;
    if (resident && announce === undefined) this.#received.take(this.#contact, invitation, talk);
    else talk.send({ kind: 'invite-reply', id: invitation.id, verdict: 'busy' });
  }

  #ended(talk: ContactConversation, farewell: Farewell | undefined, change: IdentityChange): void {
    this.#talks.delete(talk);
    if (this.#talks.size === 0 && !change.isAnswered && !this.#closed) this.#options.announce?.onOutcome('lost');
    if (farewell === 'blocked') this.#blocked();
    this.#received.leave(talk);
    // The contact may wait for us to repeat invitations over another conversation.
    for (const other of this.#talks) this.#sent.sendAll(other);
    this.#changed();
    if (!this.#hasResident()) this.#dialer.retry();
  }

  /**
   * Two sides that dial each other at the same time need one conversation. The side with the higher fingerprint leaves
   * the other's mailbox. The other side never leaves, so one conversation remains.
   */
  #settle(): void {
    const talks = [...this.#talks];
    const [kept, ...more] = talks.filter(({ side }) => side === 'guest');
    for (const talk of more) talk.close('leaving');
    const higher = Buffer.compare(this.#options.self.fingerprint, this.#contact.fingerprint) > 0;
    const isVisited = talks.some(({ side, peerIsResident }) => side === 'owner' && peerIsResident);
    if (higher && isVisited) kept?.close('leaving');
  }

  /** True if the contact stays online: the owner of a mailbox always does. */
  #hasResident(): boolean {
    return [...this.#talks].some(({ side, peerIsResident }) => side === 'guest' || peerIsResident);
  }

  #blocked(): void {
    this.#sent.blocked();
    this.#options.onBlocked();
  }

  #changed(): void {
    const here = [...this.#talks].some(({ peerIsResident }) => peerIsResident);
    if (here === this.#here) return;
    this.#here = here;
    this.#options.onHere(here);
  }
}

function isBlocked(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'CONTACT_BLOCKED';
}

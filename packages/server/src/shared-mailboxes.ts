// SPDX-License-Identifier: MPL-2.0
import { createHash, randomBytes } from 'node:crypto';
import { KeibiError, type MessagePipe, type Owner } from '@keibidrop/protocol';
import { createConversation } from './conversation.ts';
import type { ConversationPlace } from './conversation-room.ts';
import { FarConversation, type Forward } from './far-conversation.ts';
import { type Mailboxes, type MailboxKind, type MailboxStore, mailboxTaken } from './mailbox.ts';
import { widestOf } from './network.ts';
import { type Holder, MAILBOX_TTL_MS, type RedisLink } from './redis-link.ts';
import { encodeServerMessage, type ServerMessage, tryDecodeServerMessage } from './server-message.ts';

const RENEW_MS = MAILBOX_TTL_MS / 3;
/** Limit for the owner's server to admit a guest. */
const ENTER_TIMEOUT_MS = 5000;

/** A mailbox whose owner is at this server. */
interface Held {
  readonly holder: Holder;
  readonly owner: Owner;
}

/**
 * The mailboxes of several servers: an owner and its guests may each be at a different one.
 *
 * Redis knows only the hash of a mailbox and its server; bodies pass from server to server through Redis and are not stored. Owners and
 * guests at one server meet without it. Each server has its own limits.
 */
export class SharedMailboxes implements MailboxStore {
  readonly #local: Mailboxes;
  readonly #link: RedisLink;
  readonly #server: string;
  readonly #held = new Map<string, Held>();
  readonly #far = new Map<string, FarConversation>();
  /** Guests waiting for another server's answer. */
  readonly #entering = new Map<string, (answer: 'entered' | 'full' | 'gone') => void>();
  /** The end of the last attempt of each network. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #renewing: NodeJS.Timeout;

  constructor(local: Mailboxes, link: RedisLink, server: string) {
    this.#local = local;
    this.#link = link;
    this.#server = server;
    this.#renewing = setInterval(() => void this.renewAll(), RENEW_MS).unref();
  }

  /** @throws RENDEZVOUS_UNREACHABLE, too, while Redis is away */
  own(mailbox: string, network: string, owner: string, kind: MailboxKind): Promise<Owner> {
    return this.#inTurn(network, async () => {
      const known = owner === '' ? randomBytes(32).toString('hex') : createHash('sha256').update(owner).digest('hex');
      const holder = { server: this.#server, owner: known };
      const held = { holder, owner: this.#local.own(mailbox, network, owner, kind) };
      this.#held.set(mailbox, held);
      try {
        const before = await this.#link.take(mailbox, holder);
        if (before === false) {
          this.#local.missed(network, kind);
          throw mailboxTaken();
        }
        if (before !== '' && before !== this.#server)
          this.#forward(before, { kind: 'takenOver', mailbox }).catch(() => {});
      } catch (reason) {
        this.#lose(mailbox, held);
        throw reason;
      }
      return {
        [Symbol.asyncIterator]: () => held.owner[Symbol.asyncIterator](),
        close: () => this.#close(mailbox, held),
      };
    });
  }

  /** @throws RENDEZVOUS_UNREACHABLE, too, while Redis is away and the owner is not here */
  async join(mailbox: string, network: string, kind: MailboxKind): Promise<MessagePipe> {
    const found = await this.#inTurn(network, async () => {
      this.#local.assertMayTry(network, kind);
      const here = this.#local.tryEnter(mailbox, network);
      if (here !== undefined) return { here };
      const holder = await this.#link.holderOf(mailbox);
      if (holder !== undefined && holder.server !== this.#server) return { holder };
      this.#local.missed(network, kind);
      throw new KeibiError('RENDEZVOUS_NOT_FOUND');
    });
    return found.here ?? this.#enter(mailbox, found.holder, this.#local.placeFor(network, kind));
  }

  /** Extends the registration of all mailboxes, and drops those that another server has taken. */
  renewAll(): Promise<void> {
    return this.#renew([...this.#held]);
  }

  /** Ends every conversation with another server, because messages may have been lost. */
  endFar(): void {
    for (const answer of this.#entering.values()) answer('gone');
    for (const far of this.#far.values()) far.end();
  }

  close(): void {
    clearInterval(this.#renewing);
    this.endFar();
    for (const [mailbox, held] of this.#held) this.#close(mailbox, held);
  }

  /** Runs the attempts of a network, and of those around it, one at a time: each miss must count before the next attempt. */
  async #inTurn<T>(network: string, attempt: () => Promise<T>): Promise<T> {
    const widest = widestOf(network);
    const before = this.#turns.get(widest);
    const turn = (async () => {
      await before?.catch(() => {});
      return attempt();
    })();
    this.#turns.set(widest, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(widest) === turn) this.#turns.delete(widest);
    }
  }

  #close(mailbox: string, held: Held): void {
    const ours = this.#held.get(mailbox) === held;
    this.#lose(mailbox, held);
    if (ours) void this.#link.release(mailbox, held.holder);
  }

  /** Enters a mailbox at another server. */
  async #enter(mailbox: string, holder: Holder, place: ConversationPlace): Promise<MessagePipe> {
    const conversation = randomBytes(16).toString('hex');
    const forward: Forward = (message) => this.#forward(holder.server, message);
    const { guest, owner } = createConversation(0, this.#local.limits, place, () => {});
    this.#carry(conversation, owner, forward);
    const answer = new Promise<'entered' | 'full' | 'gone'>((resolve) => this.#entering.set(conversation, resolve));
    const timer = setTimeout(() => this.#entering.get(conversation)?.('gone'), ENTER_TIMEOUT_MS).unref();
    try {
      await forward({ kind: 'enter', conversation, server: this.#server, mailbox });
      const outcome = await answer;
      if (outcome === 'full') throw new KeibiError('RENDEZVOUS_BUSY');
      if (outcome === 'gone') throw new KeibiError('RENDEZVOUS_NOT_FOUND');
      return guest;
    } catch (reason) {
      guest.close();
      // The mailbox's server is dead, so remove its entry.
      if (reason instanceof NobodyListens) await this.#link.release(mailbox, holder);
      throw reason instanceof NobodyListens ? new KeibiError('RENDEZVOUS_NOT_FOUND') : reason;
    } finally {
      clearTimeout(timer);
      this.#entering.delete(conversation);
    }
  }

  #carry(conversation: string, pipe: MessagePipe, forward: Forward): void {
    const far = new FarConversation(conversation, pipe, forward);
    this.#far.set(conversation, far);
    void far.run().then(() => this.#far.delete(conversation));
  }

  /** Handles a message of another server. */
  hear(bytes: Buffer): void {
    const message = tryDecodeServerMessage(bytes);
    if (message === undefined) return;
    if (message.kind === 'enter') this.#letIn(message);
    else if (message.kind === 'takenOver') this.#ask(message.mailbox);
    else if (message.kind === 'body') this.#far.get(message.conversation)?.hear(message.body);
    else if (message.kind === 'entered') this.#entering.get(message.conversation)?.('entered');
    else {
      this.#entering.get(message.conversation)?.(message.full ? 'full' : 'gone');
      this.#far.get(message.conversation)?.end();
    }
  }

  /** Admits a guest of another server to an owner of ours. */
  #letIn({ conversation, server, mailbox }: Extract<ServerMessage, { kind: 'enter' }>): void {
    const forward: Forward = (message) => this.#forward(server, message);
    let full = false;
    try {
      const pipe = this.#far.has(conversation) ? undefined : this.#local.tryEnter(mailbox, '');
      if (pipe !== undefined) {
        void forward({ kind: 'entered', conversation }).catch(() => pipe.close());
        this.#carry(conversation, pipe, forward);
        return;
      }
    } catch {
      full = true;
    }
    void forward({ kind: 'left', conversation, full }).catch(() => {});
  }

  /** Checks whether a mailbox is still ours. */
  #ask(mailbox: string): void {
    const held = this.#held.get(mailbox);
    if (held !== undefined) void this.#renew([[mailbox, held]]);
  }

  async #renew(some: readonly (readonly [mailbox: string, held: Held])[]): Promise<void> {
    const held = new Map(some);
    // If Redis is away, `renewAll` runs once it is back.
    const lost = await this.#link.renew(some.map(([mailbox, { holder }]) => [mailbox, holder])).catch(() => []);
    for (const mailbox of lost) this.#lose(mailbox, held.get(mailbox) as Held);
  }

  /** Closes a mailbox that another server has taken. */
  #lose(mailbox: string, held: Held): void {
    held.owner.close();
    if (this.#held.get(mailbox) === held) this.#held.delete(mailbox);
  }

  async #forward(server: string, message: ServerMessage): Promise<void> {
    if (!(await this.#link.publish(server, encodeServerMessage(message)))) throw new NobodyListens();
  }
}

/** The other server no longer listens. */
class NobodyListens extends Error {}

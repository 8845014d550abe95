// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import { type Conversation, formatFingerprint, type Invitation, KeibiError } from '@keibidrop/protocol';
import { type IdentityKeys, mailboxDays } from '@keibidrop/session';
import { watchOwnAddresses } from '../address-watch.ts';
import type { ListenAddress, ReachOptions } from '../api.ts';
import type { Contact } from './contact.ts';
import { ContactLink } from './contact-link.ts';
import type { ContactStore } from './contact-store.ts';
import { Door } from './door.ts';
import { Presence } from './presence.ts';
import type { ReceivedInvitation } from './received-invitations.ts';
import { type DeliverOptions, type FinalVerdict, refusedBy } from './sent-invitations.ts';

export interface ContactLinksOptions {
  /** Stays the caller's, and must not be wiped before `close` has resolved. */
  self: IdentityKeys;
  contacts: Pick<ContactStore, 'watch' | 'noteMet'>;
  /** Where contacts come to us. Absent: we only visit, as a send does, and show nobody that we are there. */
  listen?: ListenAddress | undefined;
  reach: ReachOptions;
  /** Only these contacts, by their fingerprints as text; absent: all. */
  only?: ReadonlySet<string>;
  /** A contact has come or gone: within 10 s of the fact. */
  onPresence?(contact: Contact, online: boolean): void;
  /** To be answered. */
  onInvitation?(invitation: ReceivedInvitation): void;
  /** The public rendezvous cannot be reached, or can again. */
  onRendezvous?(address: string, lost: KeibiError | undefined): void;
  /** The contacts could not be read; those that are known stay. */
  onTrouble?(error: KeibiError): void;
  signal: AbortSignal;
}

/** Somebody who waits for a contact. */
interface Waiting {
  readonly id: string;
  resolve(): void;
  reject(reason: unknown): void;
}

/** Often enough for the mailboxes of another day. */
const TURN_PAGE_MS = 30_000;
/** Until contacts that could not be read are read again. */
const REREAD_MS = 5_000;

/** Keeps us in touch with all contacts: who is there, what they invite us to, and what we invite them to. */
export class ContactLinks {
  readonly #options: ContactLinksOptions;
  readonly #door: Door;
  readonly #presence: Presence;
  /** By fingerprint, as text. */
  readonly #links = new Map<string, ContactLink>();
  /** Whose they are. */
  #owned = new Map<string, ContactLink>();
  #wanted = new Map<string, ContactLink>();
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #turning: NodeJS.Timeout;
  readonly #unwatch: () => void;
  readonly #watching: Promise<void>;
  /** Who waits for whom. */
  readonly #waiting = new Set<Waiting>();
  #days = '';
  #first: () => void = () => {};
  #noting: Promise<void> = Promise.resolve();

  /** @throws CONFIG_INVALID (the port), USAGE (the rendezvous); CONTACTS_CORRUPT, CONTACTS_LOCKED; `signal.reason` on abort */
  static async open(options: ContactLinksOptions): Promise<ContactLinks> {
    options.signal.throwIfAborted();
    const links = new ContactLinks(options);
    try {
      await links.#ready();
      return links;
    } catch (reason) {
      await links.close();
      throw reason;
    }
  }

  private constructor(options: ContactLinksOptions) {
    const { listen, reach } = options;
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#closing.signal]);
    this.#presence = new Presence((id, online) => this.#tellPresence(id, online));
    this.#door = new Door({
      listen,
      reach,
      onGuest: (mailbox, guest) => this.#greet(mailbox, guest),
      onPlace: (mailbox, place, fresh) => this.#wanted.get(mailbox)?.tell(mailbox, place, fresh),
      onRendezvous: (address, lost) => this.#signal.aborted || options.onRendezvous?.(address, lost),
      signal: this.#signal,
    });
    this.#turning = setInterval(() => this.#turnPage(), TURN_PAGE_MS).unref();
    this.#unwatch = watchOwnAddresses(() => {
      for (const link of this.#links.values()) link.retry();
    });
    this.#watching = this.#watch();
    this.#watching.catch(() => {});
  }

  /** Where contacts come to us. */
  get listening(): { host: string; port: number } | undefined {
    return this.#door.listening;
  }

  /** The contacts of now, and whether each is there. */
  contacts(): { contact: Contact; online: boolean }[] {
    return [...this.#links].map(([id, { contact }]) => ({ contact, online: this.#presence.isOnline(id) }));
  }

  isOnline({ fingerprint }: Pick<Contact, 'fingerprint'>): boolean {
    return this.#presence.isOnline(formatFingerprint(fingerprint));
  }

  /** Resolves when a contact is there. @throws CONTACT_UNKNOWN; CONTACT_BLOCKED if it says so instead; `signal.reason` on abort */
  async untilOnline({ fingerprint }: Pick<Contact, 'fingerprint'>, { signal }: { signal: AbortSignal }): Promise<void> {
    signal.throwIfAborted();
    const id = formatFingerprint(fingerprint);
    const link = this.#links.get(id);
    if (link === undefined) throw new KeibiError('CONTACT_UNKNOWN');
    if (this.#presence.isOnline(id)) return;
    let onAbort = () => {};
    let waiting: Waiting | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        onAbort = () => reject(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        waiting = { id, resolve, reject };
        this.#waiting.add(waiting);
        link.seek();
      });
    } finally {
      if (waiting !== undefined) this.#waiting.delete(waiting);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Invites a contact; waits until it is there, has been told and has answered.
   *
   * @throws CONTACT_UNKNOWN; `signal.reason` on abort: then it is withdrawn
   */
  async deliver(
    { fingerprint }: Pick<Contact, 'fingerprint'>,
    invitation: Invitation,
    options: DeliverOptions,
  ): Promise<FinalVerdict> {
    const link = this.#links.get(formatFingerprint(fingerprint));
    if (link === undefined) throw new KeibiError('CONTACT_UNKNOWN');
    return link.deliver(invitation, options);
  }

  /** Says goodbye to everybody who is there. Idempotent. */
  async close(): Promise<void> {
    this.#presence.close();
    for (const link of this.#links.values()) link.close();
    this.#closing.abort(new KeibiError('SESSION_CLOSED', 'Contacts are not listened to any more.'));
    clearInterval(this.#turning);
    this.#unwatch();
    await this.#door.close();
    await this.#watching.catch(() => {});
    await this.#noting;
  }

  #ready(): Promise<void> {
    const first = new Promise<void>((resolve) => {
      this.#first = resolve;
    });
    return Promise.race([first, this.#watching]);
  }

  async #watch(): Promise<void> {
    let known = false;
    while (!this.#signal.aborted) {
      try {
        for await (const contacts of this.#options.contacts.watch({ signal: this.#signal })) {
          await this.#take(contacts);
          known = true;
          this.#first();
        }
      } catch (reason) {
        if (this.#signal.aborted) return;
        if (!known) throw reason;
        this.#trouble(reason);
        await setTimeout(REREAD_MS, undefined, { signal: this.#signal }).catch(() => {});
      }
    }
  }

  /** The contacts have changed. */
  async #take(contacts: readonly Contact[]): Promise<void> {
    const { only } = this.#options;
    const current = new Map(contacts.map((contact) => [formatFingerprint(contact.fingerprint), contact]));
    for (const [id, link] of this.#links) {
      if (current.has(id)) continue;
      link.close();
      this.#presence.forget(id);
      this.#links.delete(id);
    }
    for (const [id, contact] of current) {
      if (only !== undefined && !only.has(id)) continue;
      const link = this.#links.get(id);
      if (link !== undefined) await link.update(contact);
      else this.#links.set(id, await this.#linkTo(id, contact));
    }
    await this.#serve();
  }

  #linkTo(id: string, contact: Contact): Promise<ContactLink> {
    const { self, listen, onInvitation } = this.#options;
    const { fingerprint } = contact;
    return ContactLink.open(contact, {
      self,
      resident: listen !== undefined,
      join: (mailbox, place, options) => this.#door.join(mailbox, place, options),
      onHere: (here) => this.#presence.set(id, here),
      onInvitation: (invitation) => onInvitation?.(invitation),
      onBlocked: () => {
        const name = this.#links.get(id)?.contact.name ?? contact.name;
        for (const waiting of this.#waiting) if (waiting.id === id) waiting.reject(refusedBy(name, 'blocked'));
      },
      onMet: ({ keys, paired }) => {
        const known = this.#links.get(id)?.contact;
        if (known === undefined || (known.keys !== undefined && (known.paired || !paired))) return;
        this.#note(fingerprint, { keys, paired, at: new Date() });
      },
    });
  }

  /** Tells the door what there is to keep and to look for. */
  async #serve(): Promise<void> {
    this.#days = mailboxDays(Date.now()).join();
    this.#owned = new Map();
    this.#wanted = new Map();
    for (const link of this.#links.values()) {
      for (const mailbox of link.mailboxes.own) this.#owned.set(mailbox, link);
      for (const mailbox of link.mailboxes.wanted) this.#wanted.set(mailbox, link);
    }
    await this.#door.serve([...this.#owned.keys()], [...this.#wanted.keys()]);
  }

  #turnPage(): void {
    const now = Date.now();
    if (mailboxDays(now).join() === this.#days) return;
    for (const link of this.#links.values()) link.turnPage(now);
    this.#serve().catch((reason) => this.#trouble(reason));
  }

  #greet(mailbox: string, guest: Conversation): void {
    const link = this.#owned.get(mailbox);
    if (link === undefined) guest.close();
    else void link.greet(mailbox, guest);
  }

  #tellPresence(id: string, online: boolean): void {
    for (const waiting of this.#waiting) if (online && waiting.id === id) waiting.resolve();
    const contact = this.#links.get(id)?.contact;
    if (contact === undefined || this.#signal.aborted) return;
    const { fingerprint, keys } = contact;
    const { listen } = this.#options;
    if (listen !== undefined && keys !== undefined) this.#note(fingerprint, { keys, paired: false, at: new Date() });
    this.#options.onPresence?.(contact, online);
  }

  /** One after the other: the store locks its file for each. */
  #note(...met: Parameters<ContactStore['noteMet']>): void {
    this.#noting = this.#noting
      .then(async () => void (await this.#options.contacts.noteMet(...met)))
      .catch((reason) => this.#trouble(reason));
  }

  #trouble(reason: unknown): void {
    if (!this.#signal.aborted) this.#options.onTrouble?.(KeibiError.from(reason, 'CONTACTS_CORRUPT'));
  }
}

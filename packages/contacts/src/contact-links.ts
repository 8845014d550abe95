// SPDX-License-Identifier: MPL-2.0

import { setTimeout } from 'node:timers/promises';
import { watchOwnAddresses } from '@keibidrop/peer';
import {
  type Conversation,
  formatFingerprint,
  type Invitation,
  isSameFingerprint,
  KeibiError,
} from '@keibidrop/protocol';
import { type IdentityKeys, mailboxDays, type PublicKeys } from '@keibidrop/session';
import { Announcements } from './announcements.ts';
import type { Contact } from './contact.ts';
import { ContactEndpoint } from './contact-endpoint.ts';
import { ContactLink, type ContactLinkOptions } from './contact-link.ts';
import type { ContactLinksOptions } from './contact-links-options.ts';
import type { ContactStore } from './contact-store.ts';
import type { FormerIdentity } from './identity/former-identity.ts';
import { Presence } from './presence.ts';

import { type DeliverOptions, type FinalVerdict, refusedBy } from './sent-invitations.ts';

/** A caller that waits for a contact. */
interface Waiting {
  id: string;
  resolve(): void;
  reject(reason: unknown): void;
}

/** Often enough to notice the mailboxes of a new day. */
const TURN_PAGE_MS = 30_000;
/** Pause before unreadable contacts are read again. */
const REREAD_MS = 5_000;
/**
 * Limit for the mailboxes of former identities, next to those of the current one; this machine can announce no more
 * (contact-registry.ts).
 */
const MAX_MAILBOXES = 4096;

/** Keeps us in touch with all contacts: their presence, their invitations to us and ours to them. */
export class ContactLinks {
  readonly #options: ContactLinksOptions;
  readonly #endpoint: ContactEndpoint;
  readonly #presence: Presence;
  /** By fingerprint, as text. */
  readonly #links = new Map<string, ContactLink>();
  readonly #announcements: Announcements;
  #self: IdentityKeys;
  #former: readonly FormerIdentity[];
  /** The contacts last applied, and the update that is running. */
  #contacts: readonly Contact[] = [];
  #taking: Promise<void> = Promise.resolve();
  /** The link that each mailbox belongs to. */
  #owned = new Map<string, ContactLink>();
  #wanted = new Map<string, ContactLink>();
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #turning: NodeJS.Timeout;
  readonly #unwatch: () => void;
  readonly #watching: Promise<void>;
  /** The callers that wait for a contact. */
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
    this.#self = options.self;
    this.#former = options.former ?? [];
    this.#announcements = new Announcements({
      open: (contact, { keys }, announce) =>
        ContactLink.open(contact, { ...this.#linkOptions(contact, keys), announce }),
      onHeard: (contact, former) => this.#heard(contact, former),
      onChange: () => this.#retake(),
    });
    this.#signal = AbortSignal.any([options.signal, this.#closing.signal]);
    this.#presence = new Presence((id, online) => this.#notifyPresence(id, online));
    this.#endpoint = new ContactEndpoint({
      listen,
      reach,
      onGuest: (mailbox, guest) => this.#greet(mailbox, guest),
      onPlace: (mailbox, place, fresh) => this.#wanted.get(mailbox)?.addPlace(mailbox, place, fresh),
      onRendezvous: (address, lost) => this.#signal.aborted || options.onRendezvous?.(address, lost),
      signal: this.#signal,
    });
    this.#turning = setInterval(() => this.#turnPage(), TURN_PAGE_MS).unref();
    this.#unwatch = watchOwnAddresses(() => {
      for (const link of [...this.#links.values(), ...this.#announcements.links]) link.retry();
    });
    this.#watching = this.#watch();
    this.#watching.catch(() => {});
  }

  /** The address at which contacts reach us. */
  get listening(): { host: string; port: number } | undefined {
    return this.#endpoint.listening;
  }

  /** The current contacts, each with its presence. */
  contacts(): { contact: Contact; online: boolean }[] {
    return [...this.#links].map(([id, { contact }]) => ({ contact, online: this.#presence.isOnline(id) }));
  }

  isOnline({ fingerprint }: Pick<Contact, 'fingerprint'>): boolean {
    return this.#presence.isOnline(this.#idOf(fingerprint));
  }

  /** Meets contacts under a new identity; pending invitations move along. Ownership as in ContactLinksOptions. */
  async become(self: IdentityKeys, former: readonly FormerIdentity[]): Promise<void> {
    this.#self = self;
    this.#former = former;
    await this.#take(this.#contacts);
  }

  /**
   * Resolves when the contact is online. @throws CONTACT_UNKNOWN; CONTACT_BLOCKED if the contact blocks us;
   * `signal.reason` on abort
   */
  async untilOnline({ fingerprint }: Pick<Contact, 'fingerprint'>, { signal }: { signal: AbortSignal }): Promise<void> {
    signal.throwIfAborted();
    const link = await this.#linkOf(fingerprint);
    const id = formatFingerprint(link.contact.fingerprint);
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
   * Invites a contact, and waits until it is online, has the invitation and has answered.
   *
   * @throws CONTACT_UNKNOWN; `signal.reason` on abort, which withdraws the invitation
   */
  async deliver(
    { fingerprint }: Pick<Contact, 'fingerprint'>,
    invitation: Invitation,
    options: DeliverOptions,
  ): Promise<FinalVerdict> {
    for (;;) {
      const link = await this.#linkOf(fingerprint);
      const verdict = await link.deliver(invitation, options);
      if (verdict !== 'moved') return verdict;
    }
  }

  /** Says goodbye to every online contact. Idempotent. */
  async close(): Promise<void> {
    this.#presence.close();
    for (const link of this.#links.values()) link.close();
    this.#announcements.close();
    this.#closing.abort(new KeibiError('SESSION_CLOSED', 'The contacts have been closed.'));
    clearInterval(this.#turning);
    this.#unwatch();
    await this.#endpoint.close();
    await this.#watching.catch(() => {});
    await this.#taking.catch(() => {});
    // Also closes links that were opened meanwhile.
    for (const link of [...this.#links.values(), ...this.#announcements.links]) link.close();
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

  /** Applies changed contacts or a changed identity. Calls run one after the other. */
  #take(contacts: readonly Contact[]): Promise<void> {
    this.#contacts = contacts;
    this.#taking = this.#taking.catch(() => {}).then(() => this.#takeNow(contacts));
    return this.#taking;
  }

  #retake(): void {
    if (!this.#signal.aborted) this.#take(this.#contacts).catch((reason) => this.#trouble(reason));
  }

  async #takeNow(contacts: readonly Contact[]): Promise<void> {
    if (this.#signal.aborted) return;
    const current = new Map(
      contacts
        .filter((contact) => this.#isOurs(contact))
        .map((contact) => [formatFingerprint(contact.fingerprint), contact]),
    );
    const self = this.#self;
    const opened = new Map<string, ContactLink>();
    for (const [id, contact] of current) {
      const link = this.#links.get(id);
      if (link?.self === self) await link.update(contact);
      else opened.set(id, await ContactLink.open(contact, this.#linkOptions(contact, self)));
    }
    const gone = [...this.#links].filter(([id]) => !current.has(id) || opened.has(id));
    for (const [id] of gone) {
      this.#presence.forget(id);
      this.#links.delete(id);
    }
    for (const [id, link] of opened) this.#links.set(id, link);
    await this.#announcements.take([...current.values()], this.#former, self);
    await this.#serve();
    for (const [id, link] of gone) this.#move(id, link);
  }

  /** Moves the waiting work of a removed link to the contact's next link. */
  #move(id: string, gone: ContactLink): void {
    const next = this.#idOf(gone.contact.fingerprint);
    const link = this.#links.get(next);
    gone.release();
    gone.close();
    for (const waiting of this.#waiting) {
      if (waiting.id !== id) continue;
      waiting.id = next;
      link?.seek();
    }
    if (link !== undefined && next !== id) this.#options.onRenewed?.(link.contact);
  }

  /** Finds a contact by its current or an earlier fingerprint. */
  #idOf(fingerprint: Uint8Array): string {
    const id = formatFingerprint(fingerprint);
    if (this.#links.has(id)) return id;
    const renewed = [...this.#links].find(([, { contact }]) =>
      contact.renewals?.some(({ from }) => isSameFingerprint(from, fingerprint)),
    );
    return renewed?.[0] ?? id;
  }

  /** Waits for a contact whose keys were stored a moment ago. @throws CONTACT_UNKNOWN */
  async #linkOf(fingerprint: Uint8Array): Promise<ContactLink> {
    const link = this.#links.get(this.#idOf(fingerprint));
    if (link !== undefined) return link;
    await this.#take(await this.#options.contacts.list());
    const taken = this.#links.get(this.#idOf(fingerprint));
    if (taken === undefined) throw new KeibiError('CONTACT_UNKNOWN');
    return taken;
  }

  #isOurs({ fingerprint, renewals = [] }: Contact): boolean {
    const { only } = this.#options;
    const all = [fingerprint, ...renewals.map(({ from }) => from)];
    return only === undefined || all.some((one) => only.has(formatFingerprint(one)));
  }

  #linkOptions({ name, fingerprint }: Contact, self: IdentityKeys): ContactLinkOptions {
    const { contacts, listen, onInvitation } = this.#options;
    const id = formatFingerprint(fingerprint);
    const renewed = (keys: PublicKeys) => {
      return { from: fingerprint, keys, own: [self.fingerprint, this.#self.fingerprint], at: new Date() };
    };
    const isCurrent = () => self === this.#self;
    return {
      self,
      resident: listen !== undefined,
      join: (mailbox, place, options) => this.#endpoint.join(mailbox, place, options),
      onHere: (here) => {
        if (isCurrent() && this.#links.has(id)) this.#presence.set(id, here);
      },
      onInvitation: (invitation) => onInvitation?.(invitation),
      onBlocked: () => {
        const known = this.#links.get(id)?.contact.name ?? name;
        for (const waiting of this.#waiting) if (waiting.id === id) waiting.reject(refusedBy(known, 'blocked'));
      },
      onMet: ({ keys, paired }) => {
        const known = this.#links.get(id)?.contact;
        if (!isCurrent() || known === undefined) return;
        const news = known.keys === undefined || known.knowsFormer !== undefined || (paired && !known.paired);
        if (news) this.#note(fingerprint, { keys, paired, self: self.fingerprint, at: new Date() });
      },
      mayRenew: (keys) => contacts.mayRenew(renewed(keys)),
      renew: (keys) => contacts.renew(renewed(keys)),
    };
  }

  /** Looks for the contact under our new identity. */
  #heard({ fingerprint }: Contact, { keys }: FormerIdentity): void {
    this.#links.get(formatFingerprint(fingerprint))?.seek();
    this.#noting = this.#noting
      .then(() => this.#options.contacts.noteHeard(fingerprint, keys.fingerprint))
      .catch((reason) => this.#trouble(reason));
  }

  /** Updates the endpoint with the mailboxes to keep and to look for. */
  async #serve(): Promise<void> {
    this.#days = mailboxDays(Date.now()).join();
    this.#owned = new Map();
    this.#wanted = new Map();
    for (const link of [...this.#links.values(), ...this.#announcements.links]) {
      const { own, wanted } = link.mailboxes;
      if (this.#owned.size + own.length > MAX_MAILBOXES) break;
      for (const mailbox of own) this.#owned.set(mailbox, link);
      for (const mailbox of wanted) this.#wanted.set(mailbox, link);
    }
    await this.#endpoint.serve([...this.#owned.keys()], [...this.#wanted.keys()]);
  }

  #turnPage(): void {
    const now = Date.now();
    if (mailboxDays(now).join() === this.#days) return;
    for (const link of [...this.#links.values(), ...this.#announcements.links]) link.turnPage(now);
    this.#serve().catch((reason) => this.#trouble(reason));
  }

  #greet(mailbox: string, guest: Conversation): void {
    const link = this.#owned.get(mailbox);
    if (link === undefined) guest.close();
    else void link.greet(mailbox, guest);
  }

  #notifyPresence(id: string, online: boolean): void {
    for (const waiting of this.#waiting) if (online && waiting.id === id) waiting.resolve();
    const link = this.#links.get(id);
    if (link === undefined || this.#signal.aborted) return;
    const { contact, self } = link;
    const { fingerprint, keys } = contact;
    const { listen } = this.#options;
    if (listen !== undefined && keys !== undefined) {
      this.#note(fingerprint, { keys, paired: false, self: self.fingerprint, at: new Date() });
    }
    this.#options.onPresence?.(contact, online);
  }

  /** Runs one after the other, because the store locks its file for each. */
  #note(...met: Parameters<ContactStore['noteMet']>): void {
    this.#noting = this.#noting
      .then(async () => void (await this.#options.contacts.noteMet(...met)))
      .catch((reason) => this.#trouble(reason));
  }

  #trouble(reason: unknown): void {
    if (!this.#signal.aborted) this.#options.onTrouble?.(KeibiError.from(reason, 'CONTACTS_CORRUPT'));
  }
}

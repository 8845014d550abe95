// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  type Contact,
  type ContactLinks,
  ContactStore,
  type OpenedIdentity,
  parseContactName,
  type ReceivedInvitation,
  type SendByInvitationOptions,
  uncomparedSince,
} from '@keibidrop/contacts';
import type { SaveOptions, SendResult } from '@keibidrop/peer';
import type { local } from '@keibidrop/proto';
import {
  fingerprintPhrase,
  formatFingerprint,
  INVITATION_ID_BYTES,
  KeibiError,
  type Verdict,
} from '@keibidrop/protocol';
import type { EventStream, Happened } from './event-stream.ts';
import { freeBytes } from './free-space.ts';
import type { IdentityCache } from './identity-cache.ts';
import type { GivenAnswer, Prompts } from './prompts.ts';
import type { InvitedReceive } from './transfers/transfer-entry.ts';
import type { ReadSettings } from './transfers/transfer-options.ts';

/** Pause before unreadable contacts are read again, or links that failed to open are reopened. */
const RETRY_MS = 30_000;
/** How often expired former identities are looked for. */
const FORGET_EVERY_MS = 3_600_000;

export interface ContactServiceOptions {
  /** The configuration directory. */
  directory: string;
  read: ReadSettings;
  identity: IdentityCache;
  events: EventStream;
  questions: Prompts;
  /** Receives a contact's transfer, into its folder or else where the settings say. */
  receive(invitation: InvitedReceive): Promise<unknown>;
  /** Connects to a folder that a contact shares. */
  connect(invitation: { contact: string; code: string }): Promise<unknown>;
  /** Reports an error that no client waits for. */
  onTrouble(error: KeibiError): void;
}

/** The daemon's contacts: the list, their presence, and their transfers to us. */
export class ContactService {
  readonly store: ContactStore;
  readonly #options: ContactServiceOptions;
  readonly #closing = new AbortController();
  #known: readonly Contact[] = [];
  #links: Promise<ContactLinks> | undefined;
  /** The links, once open. */
  #open: ContactLinks | undefined;
  #watching: Promise<void> = Promise.resolve();
  #forgetting: NodeJS.Timeout | undefined;
  /** Ends the pause after a failure. */
  #unlocked = new AbortController();
  #trouble = '';

  constructor(options: ContactServiceOptions) {
    this.#options = options;
    this.store = new ContactStore(options);
  }

  /** Starts to watch the contacts, and to be online for them once there are any. */
  open(): void {
    this.#watching = this.#watch();
    const forget = () => this.#forget().catch((reason) => this.#report(KeibiError.from(reason, 'INTERNAL')));
    this.#forgetting = setInterval(forget, FORGET_EVERY_MS).unref();
  }

  /** The event with all contacts, for clients. */
  happened(): Happened {
    return { $case: 'contacts', value: { contacts: this.#known.map((contact) => this.view(contact)) } };
  }

  view(contact: Contact): local.Contact {
    const { name, fingerprint, verified, blocked, rule, added, lastSeen } = contact;
    return {
      name,
      fingerprint: formatFingerprint(fingerprint),
      words: fingerprintPhrase(fingerprint),
      verified,
      blocked,
      rule: rule.kind,
      folder: rule.kind === 'accept' ? rule.folder : undefined,
      added: added.getTime(),
      lastSeen: lastSeen?.getTime(),
      online: this.#open?.isOnline(contact) ?? false,
      renewed: uncomparedSince(contact)?.getTime(),
    };
  }

  /** Sends to contacts by name, each as soon as it is online. @throws CONTACT_UNKNOWN, CONTACT_BLOCKED; as `sendByInvitation` */
  async sendTo(
    names: readonly string[],
    options: Omit<SendByInvitationOptions, 'contacts' | 'links'>,
  ): Promise<SendResult> {
    const { contactsNamed, sendByInvitation } = await import('@keibidrop/contacts');
    const contacts = await contactsNamed(names, this.store);
    return sendByInvitation({ ...options, contacts, links: await this.#linked() });
  }

  /** The options that save the peer of a transfer under that name. @throws USAGE, CONTACTS_CORRUPT, IDENTITY_* */
  async introducing(name: string): Promise<SaveOptions> {
    const { keys } = await this.#options.identity.open();
    return { name: parseContactName(name), self: keys, contacts: this.store };
  }

  /** Invites a contact, by name, to a share as soon as it is online. @throws CONTACT_UNKNOWN, IDENTITY_*; `signal.reason` on abort */
  async inviteToShare(
    name: string,
    { code, label }: { code: string; label: string },
    { signal }: { signal: AbortSignal },
  ): Promise<Verdict> {
    const contact = await this.store.get(name);
    const links = await this.#linked();
    await links.untilOnline(contact, { signal });
    return links.deliver(contact, { id: randomBytes(INVITATION_ID_BYTES), code, label, to: 'share' }, { signal });
  }

  /** Retries the work that needs the identity, now that it is unlocked. */
  retry(): void {
    this.#unlocked.abort();
    this.#unlocked = new AbortController();
    if (this.#known.length > 0) this.#linked().catch(() => {});
  }

  /** Switches to a new identity. */
  async become({ keys, former }: OpenedIdentity): Promise<void> {
    const links = await this.#links?.catch(() => undefined);
    if (links === undefined) this.retry();
    else await links.become(keys, former);
  }

  async close(): Promise<void> {
    clearInterval(this.#forgetting);
    this.#closing.abort(new KeibiError('CANCELLED'));
    await this.#watching;
    await (await this.#links?.catch(() => undefined))?.close();
  }

  /** Reports an unreadable file once; the watch continues. */
  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        for await (const contacts of this.store.watch({ signal })) {
          this.#known = contacts;
          this.#options.events.emit(0, { happened: this.happened() });
          // Without contacts neither an identity nor a port is needed.
          if (contacts.length > 0) await this.#linked();
          await this.#forget();
        }
      } catch (reason) {
        if (signal.aborted) return;
        this.#report(KeibiError.from(reason, 'INTERNAL'));
        const wake = AbortSignal.any([signal, this.#unlocked.signal]);
        await setTimeout(RETRY_MS, undefined, { signal: wake }).catch(() => {});
      }
    }
  }

  /** Removes former identities that no contact needs. */
  async #forget(): Promise<void> {
    const left = await this.#options.identity.forgetFormer(() => this.store.list());
    if (left !== undefined) await this.become(left);
  }

  #linked(): Promise<ContactLinks> {
    this.#links ??= this.#connect().catch((reason) => {
      this.#links = undefined;
      throw reason;
    });
    return this.#links;
  }

  async #connect(): Promise<ContactLinks> {
    const { read, identity, events } = this.#options;
    const { keys: self, former } = await identity.open();
    const { listen, rendezvous, discovery } = await read({});
    const { ContactLinks: Links } = await import('@keibidrop/contacts');
    this.#open = await Links.open({
      self,
      former,
      contacts: this.store,
      listen: { ...listen, orAnyPort: true },
      reach: { rendezvous, discovery, directOnly: false, relayOnly: false },
      onPresence: ({ name }, online) => events.emit(0, { happened: { $case: 'presence', value: { name, online } } }),
      onRenewed: ({ name, fingerprint }) =>
        events.emit(0, { happened: { $case: 'renewed', value: { name, words: fingerprintPhrase(fingerprint) } } }),
      onInvitation: (invitation) => void this.#invited(invitation),
      onTrouble: (error) => this.#report(error),
      signal: this.#closing.signal,
    });
    return this.#open;
  }

  async #invited(invitation: ReceivedInvitation): Promise<void> {
    const { contact, folder, code, to, size, signal } = invitation;
    try {
      const given = folder === undefined ? await this.#asked(invitation) : undefined;
      if (given !== undefined && given.answer !== 'yes') {
        invitation.answer('declined');
        return;
      }
      signal.throwIfAborted();
      // Connect or receive first: the contact learns "taken" only after that has succeeded.
      if (to === 'share') await this.#options.connect({ contact: contact.name, code });
      else {
        const { out = folder, beneath, owner } = given ?? {};
        // A program that confines its receive cannot ask the user again, so it agrees to any size.
        const agreed = given === undefined || beneath !== undefined ? undefined : size;
        await this.#options.receive({ contact: contact.name, code, out, beneath, owner, agreed });
      }
      invitation.answer('taken');
    } catch (reason) {
      if (signal.aborted) return;
      invitation.answer('busy');
      this.#report(KeibiError.from(reason, 'INTERNAL'));
    }
  }

  async #asked({ contact, to, label, size, signal }: ReceivedInvitation): Promise<GivenAnswer> {
    const { savePath: place } = await this.#options.read({});
    const where = to === 'files' ? { place, freeBytes: await freeBytes(place) } : {};
    const value = { contact: contact.name, verified: contact.verified, to, label, ...size, ...where };
    const about = { $case: 'invitation', value } as const;
    return this.#options.questions.ask({ transfer: 0, about, answers: ['yes', 'no'] }, { signal });
  }

  #report(error: KeibiError): void {
    if (this.#trouble === error.message) return;
    this.#trouble = error.message;
    this.#options.onTrouble(error);
  }
}

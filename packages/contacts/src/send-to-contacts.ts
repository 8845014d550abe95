// SPDX-License-Identifier: MPL-2.0

import type { SendResult } from '@keibidrop/peer';
import { formatFingerprint, KeibiError } from '@keibidrop/protocol';
import type { Contact } from './contact.ts';
import { ContactLinks } from './contact-links.ts';
import { ContactStore } from './contact-store.ts';
import { IdentityStore } from './identity/identity-store.ts';
import { type SendByInvitationOptions, sendByInvitation } from './send-by-invitation.ts';

export interface SendToContactsOptions extends Omit<SendByInvitationOptions, 'contacts' | 'links'> {
  /** The configuration directory, which holds the identity and the contacts. */
  directory: string;
  /** Names of contacts, in any case. Duplicates count once. */
  names: readonly string[];
  /** As IdentityStoreOptions.askPassphrase. */
  askPassphrase(): Promise<string>;
}

/**
 * Sends to contacts without a daemon on our side: visits each until it has answered.
 *
 * @throws CONTACT_UNKNOWN, CONTACT_BLOCKED for a contact that we have blocked, CONTACTS_CORRUPT, IDENTITY_*; else as
 * `sendByInvitation`
 */
export async function sendToContacts(options: SendToContactsOptions): Promise<SendResult> {
  const { directory: _, names: __, askPassphrase: ___, ...sending } = options;
  const onLost = (error: KeibiError) =>
    options.onEvent({ type: 'warning', message: `${error.message} It is tried again.` });
  const onRenewed = (name: string) => options.onEvent({ type: 'warning', message: renewedText(name) });
  return withLinksTo({ ...options, onLost, onRenewed }, (contacts, links) =>
    sendByInvitation({ ...sending, contacts, links }),
  );
}

export interface LinksToOptions
  extends Pick<SendToContactsOptions, 'directory' | 'names' | 'askPassphrase' | 'reach' | 'signal'> {
  /** The public rendezvous cannot be reached. */
  onLost(error: KeibiError): void;
  /** The contact of that name has a new identity. */
  onRenewed?(name: string): void;
}

/**
 * Runs `work` while connected to some contacts, without a daemon on our side.
 *
 * @throws CONTACT_UNKNOWN, CONTACT_BLOCKED for a contact that we have blocked, CONTACTS_CORRUPT, IDENTITY_*; the errors
 * of `work`
 */
export async function withLinksTo<T>(
  { directory, names, askPassphrase, reach, signal, onLost, onRenewed }: LinksToOptions,
  work: (contacts: readonly Contact[], links: ContactLinks) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const store = new ContactStore({ directory });
  const contacts = await contactsNamed(names, store);
  const { keys: self, former } = await new IdentityStore({ directory, askPassphrase }).openWithFormer();
  try {
    const only = new Set(contacts.map(({ fingerprint }) => formatFingerprint(fingerprint)));
    const onRendezvous = (_address: string, lost: KeibiError | undefined) => lost && onLost(lost);
    const links = await ContactLinks.open({
      self,
      former,
      contacts: store,
      reach,
      only,
      onRendezvous,
      onRenewed: ({ name }) => onRenewed?.(name),
      signal,
    });
    try {
      return await work(contacts, links);
    } finally {
      await links.close();
    }
  } finally {
    for (const { keys } of former) keys.wipe();
    self.wipe();
  }
}

/** The message for the user about a contact's new identity. */
export function renewedText(name: string): string {
  return `${name} has a new identity. Compare it: keibidrop contacts verify ${name}`;
}

/**
 * Returns each contact once. @throws CONTACT_UNKNOWN, CONTACTS_CORRUPT; CONTACT_BLOCKED for a contact that we have
 * blocked
 */
export async function contactsNamed(names: readonly string[], store: ContactStore): Promise<Contact[]> {
  const found = new Map<string, Contact>();
  for (const name of names) {
    const contact = await store.get(name);
    if (contact.blocked) {
      const text = `You have blocked ${contact.name}. Run keibidrop contacts unblock to send to ${contact.name} again.`;
      throw new KeibiError('CONTACT_BLOCKED', text);
    }
    found.set(formatFingerprint(contact.fingerprint), contact);
  }
  return [...found.values()];
}

// SPDX-License-Identifier: MPL-2.0

// People: this user's identity, the contacts, the links to those who are online, and sending to them without a code.

export { assertOthers, type Contact, type ContactRule, parseContactName, uncomparedSince } from './contact.ts';
export { ContactLinks } from './contact-links.ts';
export { ContactStore } from './contact-store.ts';
export type { FormerIdentity } from './identity/former-identity.ts';
export { type Identity, IdentityStore, type NextIdentity, type OpenedIdentity } from './identity/identity-store.ts';
export { systemKeychain } from './identity/keychain.ts';
export type { ReceivedInvitation } from './received-invitations.ts';
export { assertUsableFolder } from './rule-folder.ts';
export { type SendByInvitationOptions, sendByInvitation } from './send-by-invitation.ts';
export { contactsNamed, type LinksToOptions, renewedText, sendToContacts, withLinksTo } from './send-to-contacts.ts';
export { refusedBy } from './sent-invitations.ts';

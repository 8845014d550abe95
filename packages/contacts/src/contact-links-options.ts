// SPDX-License-Identifier: MPL-2.0
import type { ReachOptions } from '@keibidrop/peer';
import type { KeibiError } from '@keibidrop/protocol';
import type { IdentityKeys } from '@keibidrop/session';
import type { ListenAddress } from '@keibidrop/settings';
import type { Contact } from './contact.ts';
import type { ContactStore } from './contact-store.ts';
import type { FormerIdentity } from './identity/former-identity.ts';
import type { ReceivedInvitation } from './received-invitations.ts';

export interface ContactLinksOptions {
  /** Remains the caller's, and must not be wiped before `close` has resolved. */
  self: IdentityKeys;
  /** Our former identities, owned as `self`. Contacts that know only one of them get an announcement of `self`. */
  former?: readonly FormerIdentity[];
  contacts: Pick<ContactStore, 'watch' | 'list' | 'noteMet' | 'noteHeard' | 'mayRenew' | 'renew'>;
  /** Where contacts reach us. Absent: we only visit, as a send does, and stay invisible. */
  listen?: ListenAddress | undefined;
  reach: ReachOptions;
  /** Only these contacts, by fingerprint as text; absent: all. */
  only?: ReadonlySet<string>;
  /** A contact has come online or gone offline; called within 10 s. */
  onPresence?(contact: Contact, online: boolean): void;
  /** A contact has a new identity that no person has compared yet. */
  onRenewed?(contact: Contact): void;
  /** The invitation needs an answer. */
  onInvitation?(invitation: ReceivedInvitation): void;
  /** The public rendezvous has become unreachable, or reachable again. */
  onRendezvous?(address: string, lost: KeibiError | undefined): void;
  /** The contacts could not be read; the ones already loaded remain. */
  onTrouble?(error: KeibiError): void;
  signal: AbortSignal;
}

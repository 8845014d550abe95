// SPDX-License-Identifier: MPL-2.0

// The interface for front ends (command line, desktop): send, receive, settings, identity, diagnosis, nearby peers, and a
// server for others.
// It combines session, discovery, server and transfer. It prints nothing and knows no terminal, window or exit code.
export { openRelayServer, type RelayServer } from '@keibidrop/server';
export type * from './api.ts';
export { benchAgainst } from './bench/against.ts';
export { benchAlone } from './bench/alone.ts';
export type * from './bench/api.ts';
export { waitForBench } from './bench/wait.ts';
export { journalsOf, knownIn, loadSettings, type Settings, stateDirOf } from './config.ts';
export { configDirOf } from './config-directory.ts';
export type { SaveOptions } from './contact-introduction.ts';
export { type Contact, type ContactRule, parseContactName } from './contacts/contact.ts';
export { ContactLinks, type ContactLinksOptions } from './contacts/contact-links.ts';
export { type ContactChange, ContactStore } from './contacts/contact-store.ts';
export { receiveInvitation } from './contacts/receive-invitation.ts';
export type { ReceivedInvitation } from './contacts/received-invitations.ts';
export { type SendToOptions, sendToContacts } from './contacts/send-to.ts';
export { sendVisiting } from './contacts/send-visiting.ts';
export type { Daemon, DaemonOptions } from './daemon/daemon.ts';
export { findDaemon, openDaemon, stopDaemon } from './daemon/index.ts';
export type {
  MountView,
  ReceiveRequest,
  SendRequest,
  ShareEntryView,
  ShareView,
  TransferView,
} from './daemon/local-calls.ts';
export type { LocalClient } from './daemon/local-client.ts';
export { openByDesktop } from './desktop-opener.ts';
export { type Check, type CheckStatus, diagnose } from './diagnosis.ts';
export { type EventJson, eventJson } from './event-json.ts';
export type * from './events.ts';
export { freeBytes } from './free-space.ts';
export { History, type HistoryEntry } from './history/history.ts';
export { placeOf } from './history/history-entry.ts';
export { pullHistory } from './history/pull-history.ts';
export { recording } from './history/recording.ts';
export {
  type Identity,
  IdentityStore,
  type IdentityStoreOptions,
  type NextIdentity,
} from './identity/identity-store.ts';
export { systemKeychain } from './identity/keychain.ts';
export { PauseSwitch } from './pause-switch.ts';
export { type WaitingSender, waitingSenders } from './peers.ts';
export { receive } from './receive.ts';
export { loadRelaySettings, type RelayFlags, type RelaySettings } from './relay-settings.ts';
export { send } from './send.ts';
export { openSharing, type ShareOptions, type Sharing, share } from './share/share.ts';
export type { ShareChange, ShareEntry, ShareInfo, ShareNotice } from './share/share-entries.ts';
export { shareEventJson } from './share/share-event-json.ts';
export type * from './share/share-events.ts';
export { type ConnectOptions, type PullOptions, ShareGuest, type ShareListing } from './share/share-guest.ts';
export { type ShareVisitingOptions, shareVisiting } from './share/share-visiting.ts';
export { offeredBy } from './transfer-figures.ts';

// SPDX-License-Identifier: MPL-2.0

// The rendezvous: mailboxes in which a sender and its receivers meet, over gRPC or, for the owner, in process.
// It sees mailbox hashes and opaque bodies and keeps nothing; it listens on nothing itself and knows no code, key or file.
export type { Conversation, Owner } from './mailbox.ts';
export { type RendezvousLimits, type RendezvousOptions, RendezvousServer } from './rendezvous.ts';

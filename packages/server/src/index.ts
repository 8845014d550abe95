// SPDX-License-Identifier: MPL-2.0

// The rendezvous: mailboxes in which a sender and its receivers meet, over gRPC or, for the owner, in process; and the server that is
// a rendezvous and a relay for strangers. It sees mailbox hashes and opaque bodies, keeps nothing, and knows no code, key or file.
export { Crowd } from './crowd.ts';
export { networkOf } from './network.ts';
export { openRelayServer, type RelayServer, type RelayServerOptions } from './open-relay-server.ts';
export { type ChosenLimits, type RelayServerLimits, relayLimitsOf } from './relay-limits.ts';
export { type RendezvousLimits, type RendezvousOptions, RendezvousServer } from './rendezvous.ts';

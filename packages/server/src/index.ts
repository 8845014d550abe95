// SPDX-License-Identifier: MPL-2.0

// The rendezvous: mailboxes in which a sender meets its receivers, over gRPC or, for the owner, in process. Also the public server that
// combines a rendezvous and a relay. It sees mailbox hashes and opaque bodies, stores nothing, and knows no code, key or file.
export { Crowd } from './crowd.ts';
export { networkOf } from './network.ts';
export { openRelayServer } from './open-relay-server.ts';
export { type ChosenLimits, type RelayServerLimits, relayLimitsOf } from './relay-limits.ts';
export type { RelayServer, RelayServerOptions } from './relay-server.ts';
export { type RendezvousLimits, type RendezvousOptions, RendezvousServer } from './rendezvous.ts';

// SPDX-License-Identifier: MPL-2.0

export { type EndpointEntry, endpointsHere, type RegisteredEndpoint, registerEndpoint } from './contact-registry.ts';
// Finds and reaches peers: the registry of this machine, multicast DNS, named addresses, mailboxes at a rendezvous, and the dial race.
// It returns connections and message pipes. It knows no code, key or session, and listens only for multicast DNS.
export { dialableRelay, type MetAt, mayDialPeer } from './dial/dial-policy.ts';
export { type Attempt, type DialRaceOptions, dialRace, type ProofOptions, type RaceResult } from './dial/dial-race.ts';
export { createDirectTransport, createMappedTransport } from './direct.ts';
export { formatHostPort, type HostPort, parseHostPort, parseRendezvous } from './host-port.ts';
export { ContactAnnouncer } from './lan/contact-announcer.ts';
export {
  announceOnLan,
  createLanTransport,
  type LanOptions,
  type LanSighting,
  sendersOnLan,
  tryMulticast,
} from './lan/lan.ts';
export { assertInterface, type Discovery, isPrivateAddress } from './lan/lan-networks.ts';
export { reachableAddresses } from './own-addresses.ts';
export { createPunchTransport } from './punch.ts';
export { announce, createRegistryTransport, type RegistryOptions, sendersHere } from './registry.ts';
export { createRelayTransport } from './relay-transport.ts';
export { createRememberedTransport, rememberAddress } from './remembered.ts';
export {
  type FindRendezvousOptions,
  findRendezvous,
  joinAnywhere,
  joinMailbox,
} from './rendezvous/find-rendezvous.ts';
export type { JoinedMailbox } from './rendezvous/join-race.ts';
export { isReached, type Observation, type ObservedWithClock, observePort } from './rendezvous/observation.ts';
export { type MailboxState, type OwnOptions, ownMailbox } from './rendezvous/own-mailbox.ts';
export type { JoinOptions, OpenChannel } from './rendezvous/rendezvous-client.ts';
export { RendezvousLine } from './rendezvous/rendezvous-line.ts';
export type { MappedPort } from './router/port-control.ts';
export { keepPortMapped, tryPortMapping } from './router/port-mapping.ts';
export { assertPrivate, makePrivate, runtimeDirectory } from './runtime-directory.ts';
export type { Transport } from './transport.ts';

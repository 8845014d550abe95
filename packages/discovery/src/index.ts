// SPDX-License-Identifier: MPL-2.0

// Finds and reaches peers: the registry of this machine, multicast DNS, named addresses, mailboxes at a rendezvous, and the dial race.
// It returns connections and message pipes. It knows no code, key or session, and listens only for multicast DNS.
export { dialableRelay, type MetAt, mayDialPeer } from './dial-policy.ts';
export { type Attempt, type DialRaceOptions, dialRace, type ProofOptions, type RaceResult } from './dial-race.ts';
export { createDirectTransport, createMappedTransport } from './direct.ts';
export { type DoorEntry, doorsHere, type RegisteredDoor, registerDoor } from './door-registry.ts';
export {
  type FindRendezvousOptions,
  findRendezvous,
  joinAnywhere,
  joinMailbox,
} from './find-rendezvous.ts';
export { formatHostPort, type HostPort, parseHostPort, parseRendezvous } from './host-port.ts';
export type { JoinedMailbox } from './join-race.ts';
export {
  announceOnLan,
  createLanTransport,
  type LanOptions,
  type LanSighting,
  sendersOnLan,
  tryMulticast,
} from './lan.ts';
export { LanDoor } from './lan-door.ts';
export { assertInterface, type Discovery, isPrivateAddress } from './lan-networks.ts';
export { isReached, type Observation, type ObservedWithClock, observePort } from './observation.ts';
export { reachableAddresses } from './own-addresses.ts';
export { type MailboxState, type OwnOptions, ownMailbox } from './own-mailbox.ts';
export { keepPortMapped, type MappedPort, tryPortMapping } from './port-mapping.ts';
export { createPunchTransport } from './punch.ts';
export { announce, createRegistryTransport, type RegistryOptions, sendersHere } from './registry.ts';
export { createRelayTransport } from './relay-transport.ts';
export { createRememberedTransport, rememberAddress } from './remembered.ts';
export type { JoinOptions, OpenChannel } from './rendezvous-client.ts';
export { RendezvousLine } from './rendezvous-line.ts';
export { assertPrivate, makePrivate, runtimeDirectory } from './runtime-directory.ts';
export type { Transport } from './transport.ts';

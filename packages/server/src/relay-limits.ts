// SPDX-License-Identifier: MPL-2.0
import type { RelayLimits } from '@keibidrop/native';
import type { RendezvousLimits } from './rendezvous.ts';

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;

/** Everything that a relay server grants strangers. */
export interface RelayServerLimits {
  rendezvous: RendezvousLimits;
  relay: RelayLimits;
  /** Connections of one network that have not said what they are, of the 256 that there may be in all. */
  undecidedPerNetwork: number;
  /** Requests for status pages at one time that are not complete, and as many whose answer takes time. */
  requests: number;
  /** How long pairs may go on once the server was told to end. */
  drainMs: number;
}

/** Enough for some thousand peers on a small machine. docs/relay.md explains each. */
export const DEFAULT_RELAY_LIMITS: RelayServerLimits = {
  rendezvous: {
    mailboxes: 10_000,
    mailboxesPerNetwork: 100,
    guessesPerMinute: 30,
    // Somebody with 200 contacts has twice as many around midnight, and whoever comes online looks for each of them once.
    contactMailboxes: 20_000,
    contactMailboxesPerNetwork: 1000,
    contactMissesPerMinute: 2000,
    guests: 64,
    guestsPerNetwork: 32,
    meetings: {
      conversations: 4096,
      conversationsPerNetwork: 256,
      queuedBytes: 32 * MIB,
      queuedBytesPerNetwork: MIB,
    },
    // Contacts that are online talk all the time: as many conversations as mailboxes.
    contactMeetings: {
      conversations: 20_000,
      conversationsPerNetwork: 1000,
      queuedBytes: 32 * MIB,
      queuedBytesPerNetwork: MIB,
    },
    queuedBodies: 16,
    idleMs: MINUTE_MS,
    connections: 20_000,
    connectionsPerNetwork: 300,
    whenFull: 'refuses-newest',
    keepaliveMs: MINUTE_MS,
    openTimeoutMs: 10_000,
    silentConnections: 1024,
    silentConnectionsPerNetwork: 64,
  },
  relay: {
    pairs: 5000,
    waiting: 5000,
    // A session is a control connection and up to 16 lanes.
    perAddress: 340,
    waitMs: MINUTE_MS,
    idleMs: 10 * MINUTE_MS,
    lifetimeMs: 24 * 60 * MINUTE_MS,
    bytesPerSecond: 0,
  },
  undecidedPerNetwork: 64,
  requests: 256,
  drainMs: 5 * MINUTE_MS,
};

/** What whoever runs a server may choose; what is absent is as in DEFAULT_RELAY_LIMITS. */
export interface ChosenLimits {
  /** Senders that wait at one time, and those of one network. */
  mailboxes?: number | undefined;
  mailboxesPerNetwork?: number | undefined;
  /** Relayed pairs at one time. */
  pairs?: number | undefined;
  /** Relay connections of one network, two to a pair. */
  relayPerNetwork?: number | undefined;
  /** A pair through which nothing moves for so long ends. */
  idleMs?: number | undefined;
  /** No pair lives longer. */
  lifetimeMs?: number | undefined;
  /** Relayed, of all pairs together. */
  bytesPerSecond?: number | undefined;
}

/** A sender needs one connection to the rendezvous, and its guests come and go: this many to a mailbox are enough. */
const CONNECTIONS_PER_MAILBOX = 2;
const CONNECTIONS_PER_MAILBOX_OF_NETWORK = 3;

/** All limits of a server of which some were chosen. */
export function relayLimitsOf(chosen: ChosenLimits): RelayServerLimits {
  const { rendezvous, relay, ...others } = DEFAULT_RELAY_LIMITS;
  const { mailboxes = rendezvous.mailboxes, mailboxesPerNetwork = rendezvous.mailboxesPerNetwork } = chosen;
  const { pairs = relay.pairs, relayPerNetwork = relay.perAddress, bytesPerSecond = relay.bytesPerSecond } = chosen;
  const { idleMs = relay.idleMs, lifetimeMs = relay.lifetimeMs } = chosen;
  return {
    rendezvous: {
      ...rendezvous,
      mailboxes,
      mailboxesPerNetwork,
      connections: CONNECTIONS_PER_MAILBOX * mailboxes,
      connectionsPerNetwork: CONNECTIONS_PER_MAILBOX_OF_NETWORK * mailboxesPerNetwork,
    },
    relay: { ...relay, pairs, waiting: pairs, perAddress: relayPerNetwork, idleMs, lifetimeMs, bytesPerSecond },
    ...others,
  };
}

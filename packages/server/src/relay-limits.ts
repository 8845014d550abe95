// SPDX-License-Identifier: MPL-2.0
import type { RelayLimits } from '@keibidrop/native';
import type { RendezvousLimits } from './rendezvous.ts';

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;

/** All limits that a relay server sets for public use. */
export interface RelayServerLimits {
  rendezvous: RendezvousLimits;
  relay: RelayLimits;
  /** Connections of one network that have not yet sent their preamble; the whole server admits 256. */
  undecidedPerNetwork: number;
  /** Incomplete requests for status pages at one time, and equally many slow answers. */
  requests: number;
  /** How long pairs may continue after a drain begins. */
  drainMs: number;
}

/** Enough for some thousand peers on a small machine. docs/relay.md explains each limit. */
export const DEFAULT_RELAY_LIMITS: RelayServerLimits = {
  rendezvous: {
    mailboxes: 10_000,
    mailboxesPerNetwork: 100,
    guessesPerMinute: 30,
    // A user with 200 contacts has 400 mailboxes around midnight, and looks for each contact once when coming online.
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
    // Online contacts hold a conversation all the time, so allow as many conversations as mailboxes.
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
    // A session uses a control connection and up to 16 lanes.
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

/** Limits that the operator of a server may set; absent ones are as in DEFAULT_RELAY_LIMITS. */
export interface ChosenLimits {
  /** Waiting senders at one time, in total and of one network. */
  mailboxes?: number | undefined;
  mailboxesPerNetwork?: number | undefined;
  /** Relayed pairs at one time. */
  pairs?: number | undefined;
  /** Relay connections of one network, two per pair. */
  relayPerNetwork?: number | undefined;
  /** Idle time after which a pair ends. */
  idleMs?: number | undefined;
  /** Maximum lifetime of a pair. */
  lifetimeMs?: number | undefined;
  /** Relayed bytes per second of all pairs together. */
  bytesPerSecond?: number | undefined;
}

/** A sender needs one connection to the rendezvous, and its guests stay briefly: so many connections per mailbox are enough. */
const CONNECTIONS_PER_MAILBOX = 2;
const CONNECTIONS_PER_MAILBOX_OF_NETWORK = 3;

/** The limits of a server, with `chosen` applied. */
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

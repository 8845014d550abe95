// SPDX-License-Identifier: MPL-2.0
import type { RelayLimits } from '@keibidrop/native';
import type { RendezvousLimits } from './rendezvous.ts';

const MINUTE_MS = 60_000;

/** Everything that a relay server grants strangers. */
export interface RelayServerLimits {
  rendezvous: RendezvousLimits;
  relay: RelayLimits;
  /** Requests for `/healthz` and `/metrics` that are being answered at one time. */
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
    guests: 64,
    queuedBodies: 16,
    idleMs: MINUTE_MS,
    connections: 20_000,
    connectionsPerNetwork: 300,
    whenFull: 'refuses-newest',
    keepaliveMs: MINUTE_MS,
    openTimeoutMs: 10_000,
  },
  relay: {
    pairs: 5000,
    waiting: 5000,
    // A session is a control connection and up to 16 lanes.
    perAddress: 340,
    waitMs: MINUTE_MS,
    idleMs: 10 * MINUTE_MS,
    lifetimeMs: 24 * 60 * MINUTE_MS,
  },
  requests: 64,
  drainMs: 5 * MINUTE_MS,
};

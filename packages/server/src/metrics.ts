// SPDX-License-Identifier: MPL-2.0
import type { RelayStats } from '@keibidrop/native';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { RendezvousStats } from './rendezvous.ts';
import type { PageDrops } from './status-pages.ts';
import type { TlsDrops } from './tls-listener.ts';

/** Counters of one server. None identifies a user. */
export interface RelayServerStats {
  relay: RelayStats;
  rendezvous: RendezvousStats;
  tls: TlsDrops;
  pages: PageDrops;
  /** Connections of a kind that this server does not serve. */
  unserved: number;
}

/** Metrics of one server; each scrape reads `stats`. */
export function createMetrics(stats: () => RelayServerStats): Registry {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, value: (now: RelayServerStats) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value(stats()));
      },
    });
  const counter = (name: string, help: string, value: (now: RelayServerStats) => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(value(stats()));
      },
    });
  gauge('keibidrop_mailboxes', 'Mailboxes with an owner.', (now) => now.rendezvous.mailboxes);
  gauge('keibidrop_rendezvous_connections', 'Connections to the rendezvous.', (now) => now.rendezvous.connections);
  gauge('keibidrop_conversations', 'Meetings in mailboxes.', (now) => now.rendezvous.conversations);
  gauge('keibidrop_relay_pairs', 'Pairs of connections that are relayed.', (now) => now.relay.pairs);
  gauge('keibidrop_relay_waiting', 'Connections whose other side has not come.', (now) => now.relay.waiting);
  counter('keibidrop_relay_joined_total', 'Pairs that were joined.', (now) => now.relay.joined);
  counter('keibidrop_relay_bytes_total', 'Bytes forwarded, both ways.', (now) => now.relay.bytes);
  counter('keibidrop_relay_cut_total', 'Pairs ended by the idle or lifetime limit.', (now) => now.relay.cut);
  new Counter({
    name: 'keibidrop_dropped_total',
    help: 'Connections and attempts that were turned away, by the reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(droppedBy(stats()))) this.inc({ reason }, count);
    },
  });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Refused connections and attempts by reason, since the start. */
export function droppedBy({ relay, rendezvous, tls, pages, unserved }: RelayServerStats): Record<string, number> {
  return {
    malformed: relay.malformed,
    slow: relay.slow,
    crowded_out: relay.crowdedOut,
    relay_full: relay.refused,
    nobody_came: relay.expired,
    rendezvous_full: rendezvous.connectionsRefused,
    rendezvous_silent: rendezvous.silent,
    rendezvous_crowded_out: rendezvous.silentCrowdedOut,
    conversations_full: rendezvous.conversationsRefused,
    guessing: rendezvous.guessesRefused,
    tls_failed: tls.failed,
    tls_slow: tls.slow,
    tls_crowded_out: tls.crowdedOut,
    http_malformed: pages.malformed,
    http_slow: pages.slow,
    http_crowded_out: pages.crowdedOut,
    http_busy: pages.busy,
    unserved,
  };
}

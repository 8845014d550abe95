// SPDX-License-Identifier: MPL-2.0
import { dialTcp } from '../dial/dial-tcp.ts';
import type { HostPort } from '../host-port.ts';
import type { Transport } from '../transport.ts';
import type { Heard, LookOptions } from './lan-look.ts';
import { type Discovery, lanNetworks } from './lan-networks.ts';
import { type LanOffer, MDNS_PORT, markOf } from './lan-records.ts';

export interface LanOptions {
  discovery: Discovery;
  /** How long a search takes; LAN_LOOK_MS if absent. */
  lookMs?: number;
  /** Minimum time between two answers of a sender on one network; ANSWER_INTERVAL_MS if absent. */
  answerIntervalMs?: number;
  /** Multicast DNS port. A port other than 5353 isolates a test. */
  port?: number;
}

/** One sender heard from one of its addresses. */
export interface LanSighting extends HostPort {
  /** Name of the offer: random and new for each offer. */
  readonly name: string;
}

/** RFC 6762 6: a record is multicast at most once per interval. */
const ANSWER_INTERVAL_MS = 1000;
/** A sender answers within a second (RFC 6762 6); the time allows for a lost query or answer. */
const LAN_LOOK_MS = 3000;
/** The system delivers a multicast packet to its own machine at once. */
const ECHO_MS = 500;
/** Limit on addresses tried for one mailbox: a hostile network may name many. */
const MAX_CANDIDATES = 8;
/** Limit on listed addresses of all senders. */
const MAX_SIGHTINGS = 256;

/** Finds senders on this machine's networks by multicast DNS (PROTOCOL 2.4). Ends at once if there is no network. */
export function createLanTransport(options: LanOptions): Transport {
  return {
    name: 'lan',
    async *find(mailbox, { signal }) {
      const accepts = ({ name, mark }: LanOffer) => mark === markOf(name, mailbox);
      for await (const { offer, host } of look(options, { accepts, most: MAX_CANDIDATES, signal })) {
        yield { transport: 'lan', host, port: offer.port };
      }
    },
    dial: dialTcp,
  };
}

/** Lists every sender on this machine's networks, each address once, for the time of one search. @throws `signal.reason` on abort */
export async function* sendersOnLan(options: LanOptions & { signal: AbortSignal }): AsyncGenerator<LanSighting> {
  const all = { accepts: () => true, most: MAX_SIGHTINGS, signal: options.signal };
  for await (const { offer, host } of look(options, all)) yield { name: offer.name, host, port: offer.port };
}

/**
 * Announces a sender on the networks, in records that only a receiver who knows the mailbox can recognise.
 *
 * @param listening  the bound address; networks from which it cannot be reached are skipped
 * @returns          withdraws the announcement. Networks that refuse multicast are skipped.
 */
export function announceOnLan(
  mailbox: string,
  listening: HostPort,
  { discovery, port = MDNS_PORT, answerIntervalMs = ANSWER_INTERVAL_MS }: LanOptions,
): () => Promise<void> {
  if (discovery === 'off') return async () => {};
  const announcement = import('./lan-announcement.ts').then(
    ({ LanAnnouncement }) => new LanAnnouncement(mailbox, listening, { discovery, port, answerIntervalMs }),
  );
  return async () => (await announcement).withdraw();
}

/** Whether multicast works on each network, checked by hearing our own packet. */
export async function tryMulticast(
  discovery: Discovery,
  port = MDNS_PORT,
): Promise<{ interface: string; family: 4 | 6; works: boolean }[]> {
  const networks = lanNetworks(discovery);
  if (networks.length === 0) return [];
  const { hearsItself } = await import('./lan-link.ts');
  const tries = networks.map(async (network) => {
    const works = await hearsItself(network, { port, withinMs: ECHO_MS });
    return { interface: network.interface, family: network.family, works };
  });
  return Promise.all(tries);
}

/** Loads multicast-dns only if there is a network to search. */
async function* look(
  { discovery, lookMs = LAN_LOOK_MS, port = MDNS_PORT }: LanOptions,
  options: Pick<LookOptions, 'accepts' | 'most' | 'signal'>,
): AsyncGenerator<Heard> {
  options.signal.throwIfAborted();
  const networks = lanNetworks(discovery);
  if (networks.length === 0) return;
  const { hear } = await import('./lan-look.ts');
  yield* hear(networks, { ...options, lookMs, port });
}

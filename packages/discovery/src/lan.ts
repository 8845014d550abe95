// SPDX-License-Identifier: MPL-2.0
import { dialTcp } from './dial-tcp.ts';
import type { HostPort } from './host-port.ts';
import type { Heard, LookOptions } from './lan-look.ts';
import { type Discovery, lanNetworks } from './lan-networks.ts';
import { type LanOffer, MDNS_PORT, markOf } from './lan-records.ts';
import type { Transport } from './transport.ts';

export interface LanOptions {
  discovery: Discovery;
  /** How long a look takes; LAN_LOOK_MS if absent. */
  lookMs?: number;
  /** Between two answers of a sender on one network; ANSWER_INTERVAL_MS if absent. */
  answerIntervalMs?: number;
  /** Of multicast DNS; another makes a world of its own. */
  port?: number;
}

/** One sender, heard from one of its addresses. */
export interface LanSighting extends HostPort {
  /** What it calls this offer: drawn by chance, and new for each. */
  readonly name: string;
}

/** RFC 6762 6: nobody multicasts a record more often. */
const ANSWER_INTERVAL_MS = 1000;
/** A sender answers within a second (RFC 6762 6), and a question or an answer may be lost. */
const LAN_LOOK_MS = 3000;
/** The system gives a multicast back to its own machine at once. */
const ECHO_MS = 500;
/** Addresses of one mailbox worth trying: a hostile network may name many. */
const MAX_CANDIDATES = 8;
/** Addresses of all senders that are listed. */
const MAX_SIGHTINGS = 256;

/** The senders of the networks this machine is in, by multicast DNS (PROTOCOL 2.4). Without a network it finds nothing, at once. */
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

/** Every sender of this machine's networks, each address once, for as long as a look takes. @throws `signal.reason` on abort */
export async function* sendersOnLan(options: LanOptions & { signal: AbortSignal }): AsyncGenerator<LanSighting> {
  const all = { accepts: () => true, most: MAX_SIGHTINGS, signal: options.signal };
  for await (const { offer, host } of look(options, all)) yield { name: offer.name, host, port: offer.port };
}

/**
 * Tells the networks that a sender listens, in words that only who knows the mailbox understands.
 *
 * @param listening  as bound; networks from which it cannot be reached are left out
 * @returns          takes the announcement back. Networks that refuse are passed over.
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

/** Whether what is multicast on a network can be heard on it, by this machine at least. */
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

/** multicast-dns is loaded when there is a network to use it on. */
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

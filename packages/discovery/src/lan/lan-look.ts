// SPDX-License-Identifier: MPL-2.0
import { LanLink } from './lan-link.ts';
import type { LanNetwork } from './lan-networks.ts';
import { type LanOffer, offersIn } from './lan-records.ts';

export interface LookOptions {
  port: number;
  lookMs: number;
  /** Whether to yield an offer; called for every offer that is new or was not accepted. */
  accepts(offer: LanOffer): boolean;
  /** Limit of accepted pairs of offer and address; later ones are ignored. */
  most: number;
  signal: AbortSignal;
}

export interface Heard {
  readonly offer: LanOffer;
  /** The source address, with its scope if link-local. */
  readonly host: string;
}

/** Delay of the second query, in case the first was lost. A sender that has just answered may answer again by then. */
const ASK_AGAIN_MS = 1100;

/**
 * Queries every network and yields each pair of offer and address once, until `lookMs` have passed.
 *
 * @throws `signal.reason` on abort
 */
export async function* hear(networks: readonly LanNetwork[], options: LookOptions): AsyncGenerator<Heard> {
  const { port, lookMs, accepts, most, signal } = options;
  const seen = new Set<string>();
  const arrivals: Heard[] = [];
  let over = false;
  let wake = () => {};
  const onAbort = () => wake();
  const end = () => {
    over = true;
    wake();
  };
  const onResponse = (response: Parameters<typeof offersIn>[0], host: string) => {
    for (const offer of offersIn(response)) {
      const key = `${offer.name} ${offer.port} ${host}`;
      if (seen.size >= most || seen.has(key) || !accepts(offer)) continue;
      seen.add(key);
      arrivals.push({ offer, host });
    }
    wake();
  };

  const links = networks.map((network) => LanLink.open(network, { port, onResponse }).catch(() => undefined));
  const ask = () => Promise.all(links.map(async (link) => (await link)?.ask()));
  void Promise.all(links).then((opened) => opened.every((link) => link === undefined) && end());
  void ask();
  const timers = [setTimeout(end, lookMs), setTimeout(ask, ASK_AGAIN_MS)];
  signal.addEventListener('abort', onAbort);
  try {
    while (!over || arrivals.length > 0) {
      signal.throwIfAborted();
      const next = arrivals.shift();
      if (next !== undefined) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    for (const timer of timers) clearTimeout(timer);
    await Promise.all(links.map(async (link) => (await link)?.close()));
  }
}

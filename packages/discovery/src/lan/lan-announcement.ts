// SPDX-License-Identifier: MPL-2.0
import type { HostPort } from '../host-port.ts';
import { LanLink } from './lan-link.ts';
import { type Discovery, type LanNetwork, lanNetworks } from './lan-networks.ts';
import { asksFor, createOffer, type LanOffer, recordsOf } from './lan-records.ts';

export interface AnnouncementOptions {
  discovery: Discovery;
  port: number;
  /** Minimum time between two answers on one network. Queries in between get one answer at its end. */
  answerIntervalMs: number;
}

/** Interval at which new and lost networks are detected while a sender waits. */
const RESCAN_MS = 1000;

/** Announces one offer on every network where the sender can be dialled, until it is withdrawn. */
export class LanAnnouncement {
  readonly #offer: LanOffer;
  readonly #host: string;
  readonly #options: AnnouncementOptions;
  /** Keyed by interface and address; undefined if the network could not be opened. */
  readonly #voices = new Map<string, Voice | undefined>();
  readonly #rescan: NodeJS.Timeout;
  #scanning: Promise<void>;
  #withdrawn = false;

  /** @param listening  the bound address */
  constructor(mailbox: string, { host, port }: HostPort, options: AnnouncementOptions) {
    this.#offer = createOffer(mailbox, port);
    this.#host = host;
    this.#options = options;
    this.#scanning = this.#scan();
    this.#rescan = setInterval(() => {
      this.#scanning = this.#scanning.then(() => this.#scan());
    }, RESCAN_MS).unref();
  }

  /** Sends a goodbye, so that other hosts stop listing the offer. */
  async withdraw(): Promise<void> {
    this.#withdrawn = true;
    clearInterval(this.#rescan);
    await this.#scanning;
    await Promise.all([...this.#voices.values()].map((voice) => voice?.end()));
  }

  async #scan(): Promise<void> {
    const networks = new Map(this.#networks().map((network) => [`${network.interface} ${network.address}`, network]));
    for (const [key, voice] of this.#voices) {
      if (networks.has(key)) continue;
      this.#voices.delete(key);
      await voice?.end();
    }
    const fresh = [...networks].filter(([key]) => !this.#voices.has(key));
    await Promise.all(fresh.map(([key, network]) => this.#speak(key, network)));
  }

  /** A network that does not take multicast is not retried. */
  async #speak(key: string, network: LanNetwork): Promise<void> {
    if (this.#withdrawn) return;
    this.#voices.set(key, await Voice.open(network, this.#offer, this.#options).catch(() => undefined));
  }

  #networks(): LanNetwork[] {
    const networks = lanNetworks(this.#options.discovery);
    if (this.#host === '::' || this.#host === '') return networks;
    if (this.#host === '0.0.0.0') return networks.filter(({ family }) => family === 4);
    return networks.filter(({ address }) => address === this.#host);
  }
}

/** The announcement of an offer on one network. */
class Voice {
  readonly #link: LanLink;
  readonly #offer: LanOffer;
  readonly #answerIntervalMs: number;
  #due: NodeJS.Timeout | undefined;
  #mayAt = 0;

  static async open(
    network: LanNetwork,
    offer: LanOffer,
    { port, answerIntervalMs }: AnnouncementOptions,
  ): Promise<Voice> {
    let voice: Voice | undefined;
    const onQuery = (query: Parameters<typeof asksFor>[1]) => {
      if (asksFor(offer, query)) voice?.answer();
    };
    voice = new Voice(await LanLink.open(network, { port, onQuery }), offer, answerIntervalMs);
    // Announcements are not acknowledged, so send two (RFC 6762 8.3). The second waits for the interval.
    voice.answer();
    voice.answer();
    return voice;
  }

  private constructor(link: LanLink, offer: LanOffer, answerIntervalMs: number) {
    this.#link = link;
    this.#offer = offer;
    this.#answerIntervalMs = answerIntervalMs;
  }

  /** Multicasts the offer, at once or when the interval allows it. */
  answer(): void {
    if (this.#due !== undefined) return;
    const waitMs = this.#mayAt - performance.now();
    if (waitMs > 0) {
      this.#due = setTimeout(() => {
        this.#due = undefined;
        this.answer();
      }, waitMs).unref();
      return;
    }
    this.#mayAt = performance.now() + this.#answerIntervalMs;
    void this.#announce(false);
  }

  async end(): Promise<void> {
    clearTimeout(this.#due);
    await this.#announce(true);
    await this.#link.close();
  }

  #announce(gone: boolean): Promise<void> {
    return this.#link.announce(recordsOf(this.#offer, this.#link.network.address, gone));
  }
}

// SPDX-License-Identifier: MPL-2.0
import type { HostPort } from './host-port.ts';
import { LanLink } from './lan-link.ts';
import { type Discovery, type LanNetwork, lanNetworks } from './lan-networks.ts';
import { asksFor, createOffer, type LanOffer, recordsOf } from './lan-records.ts';

export interface AnnouncementOptions {
  discovery: Discovery;
  port: number;
  /** Between two answers on one network. Who asks meanwhile is answered at the end of it. */
  answerIntervalMs: number;
}

/** Networks come and go while a sender waits; one that has just come up is not long unheard. */
const RESCAN_MS = 1000;

/** One offer, told on every network where it can be dialled, until it is withdrawn. */
export class LanAnnouncement {
  readonly #offer: LanOffer;
  readonly #host: string;
  readonly #options: AnnouncementOptions;
  /** By interface and address; undefined if it could not be opened. */
  readonly #voices = new Map<string, Voice | undefined>();
  readonly #rescan: NodeJS.Timeout;
  #scanning: Promise<void>;
  #withdrawn = false;

  /** @param listening as bound */
  constructor(mailbox: string, { host, port }: HostPort, options: AnnouncementOptions) {
    this.#offer = createOffer(mailbox, port);
    this.#host = host;
    this.#options = options;
    this.#scanning = this.#scan();
    this.#rescan = setInterval(() => {
      this.#scanning = this.#scanning.then(() => this.#scan());
    }, RESCAN_MS).unref();
  }

  /** Says goodbye, so that nobody shows the offer any longer. */
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

  /** One that takes no multicast is left alone from then on. */
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

/** An offer on one network. */
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
    // Twice, since nobody says that he has heard (RFC 6762 8.3); the second waits its turn.
    voice.answer();
    voice.answer();
    return voice;
  }

  private constructor(link: LanLink, offer: LanOffer, answerIntervalMs: number) {
    this.#link = link;
    this.#offer = offer;
    this.#answerIntervalMs = answerIntervalMs;
  }

  /** Tells the offer, now or as soon as it may. */
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
    void this.#tell(false);
  }

  async end(): Promise<void> {
    clearTimeout(this.#due);
    await this.#tell(true);
    await this.#link.close();
  }

  #tell(gone: boolean): Promise<void> {
    return this.#link.tell(recordsOf(this.#offer, this.#link.network.address, gone));
  }
}

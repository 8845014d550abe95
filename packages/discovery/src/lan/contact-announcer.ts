// SPDX-License-Identifier: MPL-2.0
import type { QueryPacket, ResponsePacket } from 'multicast-dns';
import type { HostPort } from '../host-port.ts';
import {
  asksForEndpoint,
  createEndpointOffers,
  type EndpointOffer,
  endpointQuery,
  endpointRecordsOf,
  endpointsIn,
} from './contact-records.ts';
import { LanLink } from './lan-link.ts';
import { type Discovery, type LanNetwork, lanNetworks } from './lan-networks.ts';
import { MDNS_PORT, markOf } from './lan-records.ts';

export interface ContactAnnouncerOptions {
  discovery: Discovery;
  /** Multicast DNS port. A port other than 5353 isolates a test. */
  port?: number;
  /** Called each time an endpoint with a wanted mailbox is heard. */
  onFound(mailbox: string, place: HostPort): void;
}

/** Interval at which new and lost networks are detected. */
const RESCAN_MS = 1000;
/** Interval of queries. Known endpoints do not answer, so a query usually costs a network one packet. */
const ASK_EVERY_MS = 5000;
/** Delay of the second query, in case the first was lost. An endpoint that has just announced itself may answer by then. */
const ASK_AGAIN_MS = 1100;
/** RFC 6762 6: a record is multicast at most once per interval. */
const ANSWER_INTERVAL_MS = 1000;
/** Endpoints that are remembered, and new ones examined per second: each costs a hash for every wanted mailbox. */
const MAX_HEARD = 256;
const MAX_NEW_A_SECOND = 64;

/** An endpoint heard from one address. */
interface Heard {
  readonly offer: EndpointOffer;
  readonly place: HostPort;
  readonly mailboxes: string[];
  at: number;
}

/**
 * Announces our endpoint on this machine's networks and listens for the endpoints of contacts, with one socket per network (PROTOCOL 10).
 *
 * Endpoints already present hear the announcement of a new one; a new one finds them by a query.
 */
export class ContactAnnouncer {
  readonly #options: Required<ContactAnnouncerOptions>;
  /** Keyed by interface and address; undefined if the network could not be opened. */
  readonly #voices = new Map<string, Voice | undefined>();
  readonly #heard = new Map<string, Heard>();
  readonly #timers: NodeJS.Timeout[];
  #listening: HostPort = { host: '', port: 0 };
  #announced: readonly string[] = [];
  #offers: readonly EndpointOffer[] = [];
  #wanted: readonly string[] = [];
  #scanning: Promise<void>;
  #newThisSecond = 0;
  #closed = false;

  constructor(options: ContactAnnouncerOptions) {
    this.#options = { port: MDNS_PORT, ...options };
    this.#scanning = this.#scan().then(() => this.ask());
    const rescan = setInterval(() => {
      this.#newThisSecond = 0;
      this.#scanning = this.#scanning.then(() => this.#scan());
    }, RESCAN_MS).unref();
    const again = setTimeout(() => this.ask(), ASK_AGAIN_MS).unref();
    this.#timers = [rescan, again, setInterval(() => this.ask(), ASK_EVERY_MS).unref()];
  }

  /** Announces exactly these mailboxes on the networks from which `listening` can be reached. */
  announce(listening: HostPort, mailboxes: readonly string[]): void {
    if (listening.port === this.#listening.port && isSame(mailboxes, this.#announced)) return;
    const before = this.#offers;
    this.#listening = listening;
    this.#announced = [...mailboxes];
    this.#offers = createEndpointOffers(mailboxes, listening.port);
    for (const voice of this.#voices.values()) if (voice?.tells) voice.replace(before, this.#offers);
  }

  /** Sets the mailboxes to listen for. Endpoints heard earlier are matched too. */
  want(mailboxes: readonly string[]): void {
    if (isSame(mailboxes, this.#wanted)) return;
    this.#wanted = [...mailboxes];
    for (const heard of this.#heard.values()) {
      heard.mailboxes.splice(0, Number.POSITIVE_INFINITY, ...this.#wantedBehind(heard.offer));
      this.#report(heard);
    }
    this.ask();
  }

  /** Queries all networks for endpoints, unless no mailbox is wanted. */
  ask(): void {
    if (this.#closed || this.#wanted.length === 0) return;
    const now = performance.now();
    const known = [...this.#heard.values()].map(({ offer, at }) => ({ name: offer.name, ageMs: now - at }));
    for (const voice of this.#voices.values()) voice?.link.ask(endpointQuery(known));
  }

  /** Sends a goodbye, so that contacts notice at once. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#scanning;
    await Promise.all([...this.#voices.values()].map((voice) => voice?.end(this.#offers)));
  }

  async #scan(): Promise<void> {
    if (this.#closed) return;
    const found = lanNetworks(this.#options.discovery);
    const networks = new Map(found.map((network) => [`${network.interface} ${network.address}`, network]));
    for (const [key, voice] of this.#voices) {
      if (networks.has(key)) continue;
      this.#voices.delete(key);
      await voice?.end([]);
    }
    const fresh = [...networks].filter(([key]) => !this.#voices.has(key));
    await Promise.all(fresh.map(([key, network]) => this.#join(key, network)));
    if (fresh.length > 0) this.ask();
  }

  /** A network that does not take multicast is not retried. */
  async #join(key: string, network: LanNetwork): Promise<void> {
    this.#voices.set(key, undefined);
    let voice: Voice | undefined;
    const onQuery = (query: QueryPacket) => voice?.tells && voice.answer(query, this.#offers);
    const onResponse = (response: ResponsePacket, from: string) => this.#hear(response, from);
    const link = await LanLink.open(network, { port: this.#options.port, onQuery, onResponse }).catch(() => undefined);
    if (link === undefined) return;
    voice = new Voice(link, () => this.#reaches(network));
    this.#voices.set(key, voice);
    if (voice.tells) voice.replace([], this.#offers);
  }

  /** Whether our listener can be dialled from a network. */
  #reaches({ address, family }: LanNetwork): boolean {
    const { host, port } = this.#listening;
    return port !== 0 && (host === '::' || (host === '0.0.0.0' && family === 4) || host === address);
  }

  #hear(response: ResponsePacket, from: string): void {
    for (const { gone, ...offer } of endpointsIn(response)) {
      const key = `${offer.name} ${offer.port} ${from}`;
      if (gone) this.#heard.delete(key);
      else this.#report(this.#heard.get(key) ?? this.#remember(key, offer, from));
    }
  }

  #remember(key: string, offer: EndpointOffer, host: string): Heard | undefined {
    const own = this.#offers.some(({ name }) => name === offer.name);
    if (own || ++this.#newThisSecond > MAX_NEW_A_SECOND) return undefined;
    const place = { host, port: offer.port };
    const heard = { offer, place, mailboxes: this.#wantedBehind(offer), at: performance.now() };
    const [oldest] = this.#heard.keys();
    if (this.#heard.size >= MAX_HEARD && oldest !== undefined) this.#heard.delete(oldest);
    this.#heard.set(key, heard);
    return heard;
  }

  #wantedBehind({ name, marks }: EndpointOffer): string[] {
    const there = new Set(marks);
    return this.#wanted.filter((mailbox) => there.has(markOf(name, mailbox)));
  }

  #report(heard: Heard | undefined): void {
    if (heard === undefined || this.#closed) return;
    heard.at = performance.now();
    for (const mailbox of heard.mailboxes) this.#options.onFound(mailbox, heard.place);
  }
}

/** The announcement of our endpoint on one network. */
class Voice {
  readonly link: LanLink;
  readonly #reaches: () => boolean;
  readonly #due = new Map<string, NodeJS.Timeout>();
  readonly #mayAt = new Map<string, number>();

  constructor(link: LanLink, reaches: () => boolean) {
    this.link = link;
    this.#reaches = reaches;
  }

  /** Whether our endpoint can be reached from this network. */
  get tells(): boolean {
    return this.#reaches();
  }

  replace(before: readonly EndpointOffer[], offers: readonly EndpointOffer[]): void {
    this.#forget();
    for (const offer of before) void this.#say(offer, true);
    // Announcements are not acknowledged, so send two (RFC 6762 8.3). The second waits for the interval.
    for (const offer of [...offers, ...offers]) this.#announce(offer);
  }

  answer(query: QueryPacket, offers: readonly EndpointOffer[]): void {
    for (const offer of offers) if (asksForEndpoint(offer, query)) this.#announce(offer);
  }

  async end(offers: readonly EndpointOffer[]): Promise<void> {
    this.#forget();
    await Promise.all(offers.map((offer) => this.#say(offer, true)));
    await this.link.close();
  }

  /** Multicasts the offer, at once or when the interval allows it. */
  #announce(offer: EndpointOffer): void {
    const { name } = offer;
    if (this.#due.has(name)) return;
    const waitMs = (this.#mayAt.get(name) ?? 0) - performance.now();
    if (waitMs > 0) {
      const later = () => {
        this.#due.delete(name);
        this.#announce(offer);
      };
      this.#due.set(name, setTimeout(later, waitMs).unref());
      return;
    }
    this.#mayAt.set(name, performance.now() + ANSWER_INTERVAL_MS);
    void this.#say(offer, false);
  }

  #say(offer: EndpointOffer, gone: boolean): Promise<void> {
    return this.link.announce(endpointRecordsOf(offer, this.link.network.address, gone));
  }

  #forget(): void {
    for (const timer of this.#due.values()) clearTimeout(timer);
    this.#due.clear();
    this.#mayAt.clear();
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each, i) => each === other[i]);
}

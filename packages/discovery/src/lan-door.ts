// SPDX-License-Identifier: MPL-2.0
import type { QueryPacket, ResponsePacket } from 'multicast-dns';
import { asksForDoor, createDoorOffers, type DoorOffer, doorQuery, doorRecordsOf, doorsIn } from './door-records.ts';
import type { HostPort } from './host-port.ts';
import { LanLink } from './lan-link.ts';
import { type Discovery, type LanNetwork, lanNetworks } from './lan-networks.ts';
import { MDNS_PORT, markOf } from './lan-records.ts';

export interface LanDoorOptions {
  discovery: Discovery;
  /** Of multicast DNS; another makes a world of its own. */
  port?: number;
  /** A door that has one of the wanted mailboxes was heard; told each time. */
  onFound(mailbox: string, place: HostPort): void;
}

/** Networks come and go. */
const RESCAN_MS = 1000;
/** Who is known does not answer, so that a question costs a network one packet. */
const ASK_EVERY_MS = 5000;
/** After the first, in case that was lost: when whoever has just told its door may answer. */
const ASK_AGAIN_MS = 1100;
/** RFC 6762 6: nobody multicasts a record more often. */
const ANSWER_INTERVAL_MS = 1000;
/** Doors that are remembered, and new ones that are looked at a second: each costs a hash for every wanted mailbox. */
const MAX_HEARD = 256;
const MAX_NEW_A_SECOND = 64;

/** A door that was heard, from one address. */
interface Heard {
  readonly offer: DoorOffer;
  readonly place: HostPort;
  readonly mailboxes: string[];
  at: number;
}

/**
 * Doors on the networks of this machine: ours is told, and those of contacts are listened for, by one socket a network (PROTOCOL 10).
 *
 * Whoever comes later is heard by who is there, and hears who is there by asking.
 */
export class LanDoor {
  readonly #options: Required<LanDoorOptions>;
  /** By interface and address; undefined if it could not be opened. */
  readonly #voices = new Map<string, Voice | undefined>();
  readonly #heard = new Map<string, Heard>();
  readonly #timers: NodeJS.Timeout[];
  #listening: HostPort = { host: '', port: 0 };
  #told: readonly string[] = [];
  #offers: readonly DoorOffer[] = [];
  #wanted: readonly string[] = [];
  #scanning: Promise<void>;
  #newThisSecond = 0;
  #closed = false;

  constructor(options: LanDoorOptions) {
    this.#options = { port: MDNS_PORT, ...options };
    this.#scanning = this.#scan().then(() => this.ask());
    const rescan = setInterval(() => {
      this.#newThisSecond = 0;
      this.#scanning = this.#scanning.then(() => this.#scan());
    }, RESCAN_MS).unref();
    const again = setTimeout(() => this.ask(), ASK_AGAIN_MS).unref();
    this.#timers = [rescan, again, setInterval(() => this.ask(), ASK_EVERY_MS).unref()];
  }

  /** Tells the networks from which `listening` can be reached that these mailboxes are there, and no others. */
  tell(listening: HostPort, mailboxes: readonly string[]): void {
    if (listening.port === this.#listening.port && isSame(mailboxes, this.#told)) return;
    const before = this.#offers;
    this.#listening = listening;
    this.#told = [...mailboxes];
    this.#offers = createDoorOffers(mailboxes, listening.port);
    for (const voice of this.#voices.values()) if (voice?.tells) voice.replace(before, this.#offers);
  }

  /** Whose doors are listened for; what was heard before counts. */
  want(mailboxes: readonly string[]): void {
    if (isSame(mailboxes, this.#wanted)) return;
    this.#wanted = [...mailboxes];
    for (const heard of this.#heard.values()) {
      heard.mailboxes.splice(0, Number.POSITIVE_INFINITY, ...this.#wantedBehind(heard.offer));
      this.#report(heard);
    }
    this.ask();
  }

  /** Asks who is there, unless nobody is wanted. */
  ask(): void {
    if (this.#closed || this.#wanted.length === 0) return;
    const now = performance.now();
    const known = [...this.#heard.values()].map(({ offer, at }) => ({ name: offer.name, ageMs: now - at }));
    for (const voice of this.#voices.values()) voice?.link.ask(doorQuery(known));
  }

  /** Says goodbye, so that contacts see it at once. */
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

  /** One that takes no multicast is left alone from then on. */
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

  /** Whether what listens can be dialled from a network. */
  #reaches({ address, family }: LanNetwork): boolean {
    const { host, port } = this.#listening;
    return port !== 0 && (host === '::' || (host === '0.0.0.0' && family === 4) || host === address);
  }

  #hear(response: ResponsePacket, from: string): void {
    for (const { gone, ...offer } of doorsIn(response)) {
      const key = `${offer.name} ${offer.port} ${from}`;
      if (gone) this.#heard.delete(key);
      else this.#report(this.#heard.get(key) ?? this.#remember(key, offer, from));
    }
  }

  #remember(key: string, offer: DoorOffer, host: string): Heard | undefined {
    const own = this.#offers.some(({ name }) => name === offer.name);
    if (own || ++this.#newThisSecond > MAX_NEW_A_SECOND) return undefined;
    const place = { host, port: offer.port };
    const heard = { offer, place, mailboxes: this.#wantedBehind(offer), at: performance.now() };
    const [oldest] = this.#heard.keys();
    if (this.#heard.size >= MAX_HEARD && oldest !== undefined) this.#heard.delete(oldest);
    this.#heard.set(key, heard);
    return heard;
  }

  #wantedBehind({ name, marks }: DoorOffer): string[] {
    const there = new Set(marks);
    return this.#wanted.filter((mailbox) => there.has(markOf(name, mailbox)));
  }

  #report(heard: Heard | undefined): void {
    if (heard === undefined || this.#closed) return;
    heard.at = performance.now();
    for (const mailbox of heard.mailboxes) this.#options.onFound(mailbox, heard.place);
  }
}

/** Our door on one network. */
class Voice {
  readonly link: LanLink;
  readonly #reaches: () => boolean;
  readonly #due = new Map<string, NodeJS.Timeout>();
  readonly #mayAt = new Map<string, number>();

  constructor(link: LanLink, reaches: () => boolean) {
    this.link = link;
    this.#reaches = reaches;
  }

  /** Whether our door can be reached from there. */
  get tells(): boolean {
    return this.#reaches();
  }

  replace(before: readonly DoorOffer[], offers: readonly DoorOffer[]): void {
    this.#forget();
    for (const offer of before) void this.#say(offer, true);
    // Twice, since nobody says that he has heard (RFC 6762 8.3); the second waits its turn.
    for (const offer of [...offers, ...offers]) this.#tell(offer);
  }

  answer(query: QueryPacket, offers: readonly DoorOffer[]): void {
    for (const offer of offers) if (asksForDoor(offer, query)) this.#tell(offer);
  }

  async end(offers: readonly DoorOffer[]): Promise<void> {
    this.#forget();
    await Promise.all(offers.map((offer) => this.#say(offer, true)));
    await this.link.close();
  }

  /** Now or as soon as it may. */
  #tell(offer: DoorOffer): void {
    const { name } = offer;
    if (this.#due.has(name)) return;
    const waitMs = (this.#mayAt.get(name) ?? 0) - performance.now();
    if (waitMs > 0) {
      const later = () => {
        this.#due.delete(name);
        this.#tell(offer);
      };
      this.#due.set(name, setTimeout(later, waitMs).unref());
      return;
    }
    this.#mayAt.set(name, performance.now() + ANSWER_INTERVAL_MS);
    void this.#say(offer, false);
  }

  #say(offer: DoorOffer, gone: boolean): Promise<void> {
    return this.link.tell(doorRecordsOf(offer, this.link.network.address, gone));
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

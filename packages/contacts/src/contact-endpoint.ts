// SPDX-License-Identifier: MPL-2.0
import {
  ContactAnnouncer,
  type EndpointEntry,
  endpointsHere,
  formatHostPort,
  type HostPort,
  joinMailbox,
  parseRendezvous,
  RendezvousLine,
  registerEndpoint,
} from '@keibidrop/discovery';
import type { Incoming, Listener } from '@keibidrop/native';
import { openListener, type ReachOptions, socketOf } from '@keibidrop/peer';
import type { Conversation, KeibiError, MessagePipe, Owner } from '@keibidrop/protocol';
import { RendezvousServer } from '@keibidrop/server';
import { openGrpcChannel, openPingedGrpcChannel } from '@keibidrop/session';
import type { ListenAddress } from '@keibidrop/settings';

export interface ContactEndpointOptions {
  /** Absent: contacts cannot reach us, we only visit. */
  listen?: ListenAddress | undefined;
  reach: ReachOptions;
  /** A guest that knows the name of one of our mailboxes has connected. It may not have sent anything yet. */
  onGuest(mailbox: string, conversation: Conversation): void;
  /**
   * A wanted mailbox may be at this place; called for each announcement. `fresh`: the path there has just come up, so
   * try it whatever failed before.
   */
  onPlace(mailbox: string, place: Place, fresh: boolean): void;
  /** The public rendezvous has become unreachable, or reachable again. */
  onRendezvous(address: string, lost: KeibiError | undefined): void;
  signal: AbortSignal;
}

/** Where a mailbox may be visited: on this machine, on its networks, or at the public rendezvous. */
export interface Place extends HostPort {
  readonly transport: 'local' | 'lan' | 'rendezvous';
}

/** Reads one directory, with a file for each daemon of this user. */
const LOOK_HERE_MS = 1000;
/** A silent rendezvous connection is detected within twice this time. */
const PING_MS = 3500;
/** Limits of our port for strangers on the same network, who could only use up room. */
const LIMITS = {
  mailboxes: 0,
  contactMailboxes: 4096,
  guests: 8,
  connections: 1024,
  connectionsPerNetwork: 256,
  whenFull: 'refuses-newest',
  keepaliveMs: 60_000,
} as const;

/**
 * Where contacts reach us, and where we find them.
 *
 * One port with its own rendezvous serves any number of mailboxes, which are announced on this machine and its
 * networks. One connection to the public rendezvous serves all of them (PROTOCOL 10).
 */
export class ContactEndpoint {
  readonly #options: ContactEndpointOptions;
  readonly #rendezvous = new RendezvousServer({ limits: LIMITS });
  readonly #listener: Listener | undefined;
  readonly #lan: ContactAnnouncer | undefined;
  readonly #place: HostPort | undefined;
  readonly #owned = new Map<string, Owner>();
  readonly #looking: NodeJS.Timeout;
  #line: RendezvousLine | undefined;
  #entry: EndpointEntry | undefined;
  #wanted: ReadonlySet<string> = new Set();
  #changing: Promise<void> = Promise.resolve();
  #closed = false;

  /** @throws CONFIG_INVALID (the port), USAGE (the rendezvous) */
  constructor(options: ContactEndpointOptions) {
    const { listen, reach } = options;
    this.#options = options;
    this.#place = reach.rendezvous === undefined ? undefined : parseRendezvous(reach.rendezvous);
    // With a relay only, no contact is met here.
    const near = !reach.relayOnly;
    if (near && listen) this.#listener = openListener(listen, (incoming) => this.#accept(incoming));
    const onFound = (mailbox: string, place: HostPort) =>
      this.#addPlace(mailbox, { transport: 'lan', host: place.host, port: place.port }, false);
    if (near && reach.discovery !== 'off') this.#lan = new ContactAnnouncer({ discovery: reach.discovery, onFound });
    this.#looking = setInterval(() => near && void this.#lookHere(), LOOK_HERE_MS);
    if (near) void this.#lookHere();
  }

  /** The address it listens on; undefined if contacts cannot reach us. */
  get listening(): HostPort | undefined {
    return this.#listener && { host: this.#listener.host, port: this.#listener.port };
  }

  /** Replaces the mailboxes that we own and those that we look for. All are 32 bytes as lower-case hex. */
  serve(owned: readonly string[], wanted: readonly string[]): Promise<void> {
    const before = this.#changing.catch(() => {});
    this.#changing = before.then(() => this.#change(owned, wanted));
    return this.#changing;
  }

  /** Enters a mailbox. @throws RENDEZVOUS_NOT_FOUND, RENDEZVOUS_BUSY, RENDEZVOUS_UNREACHABLE; `signal.reason` on abort */
  join(mailbox: string, place: Place, { signal }: { signal: AbortSignal }): Promise<MessagePipe> {
    if (place.transport === 'rendezvous' && this.#line !== undefined) return this.#line.join(mailbox, { signal });
    return joinMailbox(place, mailbox, { openChannel: openGrpcChannel, contact: true, signal });
  }

  /** Ends every conversation and withdraws the announcements. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looking);
    this.#line?.close();
    await this.#changing.catch(() => {});
    await Promise.all([this.#lan?.close(), this.#entry?.withdraw()]);
    for (const owner of this.#owned.values()) owner.close();
    await this.#rendezvous.close();
    await this.#listener?.close();
  }

  async #change(owned: readonly string[], wanted: readonly string[]): Promise<void> {
    if (this.#closed) return;
    const before = this.#wanted;
    const line = this.#lineFor(owned.length + wanted.length);
    const mine = new Set(owned);
    for (const [mailbox, owner] of this.#owned) {
      if (mine.has(mailbox)) continue;
      owner.close();
      this.#owned.delete(mailbox);
      line?.disown(mailbox);
    }
    const owning = owned.map((mailbox) => this.#own(mailbox, line));
    if (this.#listener) await this.#announce(this.#listener, owned);
    // Own mailboxes first: if both sides come at the same time, one then finds the other.
    await Promise.all(owning);
    this.#wanted = new Set(wanted);
    this.#lan?.want(wanted);
    const added = wanted.filter((mailbox) => !before.has(mailbox));
    if (line?.isUp) for (const mailbox of added) this.#addRendezvous(mailbox);
    if (added.length > 0) void this.#lookHere();
  }

  async #own(mailbox: string, line: RendezvousLine | undefined): Promise<void> {
    if (this.#owned.has(mailbox)) return;
    const owner = this.#rendezvous.ownContact(mailbox);
    this.#owned.set(mailbox, owner);
    void this.#receive(mailbox, owner);
    await line?.own(mailbox, (conversation) => this.#options.onGuest(mailbox, conversation));
  }

  async #receive(mailbox: string, owner: Owner): Promise<void> {
    for await (const conversation of owner) this.#options.onGuest(mailbox, conversation);
  }

  async #announce(listener: Listener, mailboxes: readonly string[]): Promise<void> {
    if (this.#options.reach.relayOnly) return;
    this.#entry ??= await registerEndpoint(listener);
    await this.#entry.announce(mailboxes);
    this.#lan?.announce({ host: listener.host, port: listener.port }, mailboxes);
  }

  /** Opens no connection to the server without mailboxes to serve. */
  #lineFor(mailboxes: number): RendezvousLine | undefined {
    const place = this.#place;
    if (place === undefined || (mailboxes === 0 && this.#line === undefined)) return this.#line;
    this.#line ??= new RendezvousLine(place, {
      openChannel: (connection) => openPingedGrpcChannel(connection, PING_MS),
      signal: this.#options.signal,
      onState: (lost) => {
        this.#options.onRendezvous(formatHostPort(place), lost);
        if (lost === undefined) for (const mailbox of this.#wanted) this.#addRendezvous(mailbox);
      },
    });
    return this.#line;
  }

  #addRendezvous(mailbox: string): void {
    const { host, port } = this.#place as HostPort;
    this.#addPlace(mailbox, { transport: 'rendezvous', host, port }, true);
  }

  async #lookHere(): Promise<void> {
    if (this.#closed || this.#wanted.size === 0) return;
    for (const { host, port, mailboxes } of await endpointsHere().catch(() => [])) {
      for (const mailbox of this.#wanted) {
        if (mailboxes.has(mailbox)) this.#addPlace(mailbox, { transport: 'local', host, port }, false);
      }
    }
  }

  #addPlace(mailbox: string, place: Place, fresh: boolean): void {
    if (!this.#closed && this.#wanted.has(mailbox)) this.#options.onPlace(mailbox, place, fresh);
  }

  #accept(incoming: Incoming): void {
    if (incoming.kind === 'rendezvous') this.#rendezvous.attach(socketOf(incoming));
    else socketOf(incoming).destroy();
  }
}

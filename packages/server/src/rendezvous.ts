// SPDX-License-Identifier: MPL-2.0
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Owner } from '@keibidrop/protocol';
import { Crowd } from './crowd.ts';
import { contactMailbox, EMBEDDED_LIMITS, Mailboxes, type MailboxLimits, type MailboxStore } from './mailbox.ts';
import { NetworkCount, networkOf } from './network.ts';
import type { createService, RelayNotice } from './rendezvous-service.ts';
import { connectionName, SilentConnections } from './silent-connections.ts';

type Service = ReturnType<typeof createService>;

export interface RendezvousOptions {
  limits?: Partial<RendezvousLimits>;
  /** The same port also relays; sent to every peer in `Opened`. */
  relay?: RelayNotice;
  /** Replaces this server's mailboxes by a store shared among several servers. */
  share?(local: Mailboxes): MailboxStore;
}

export interface RendezvousLimits extends MailboxLimits {
  /** Attached connections at one time. */
  connections: number;
  /** Attached connections of one network. */
  connectionsPerNetwork: number;
  /**
   * The policy for one connection too many. `ends-oldest` ends the oldest of its network, so idle ones block no guest;
   * with `refuses-newest` strangers cannot end each other's connections.
   */
  whenFull: 'ends-oldest' | 'refuses-newest';
  /** Ends a connection whose other side does not answer a ping for so long; 0: no pings. */
  keepaliveMs: number;
  /** Ends a connection that is in no mailbox for so long. */
  openTimeoutMs: number;
  /** Connections in no mailbox; one more ends an older one, whatever `whenFull` says. */
  silentConnections: number;
  silentConnectionsPerNetwork: number;
}

/** `mailboxes`, `connections` and `conversations` are current values; the others count from the start. */
export interface RendezvousStats {
  mailboxes: number;
  connections: number;
  conversations: number;
  connectionsRefused: number;
  /** Connections ended while in no mailbox: after too long, or for a newer one. */
  silent: number;
  silentCrowdedOut: number;
  /** Conversations refused or ended for lack of room. */
  conversationsRefused: number;
  /** Attempts refused because their network had missed too often. */
  guessesRefused: number;
}

const LIMITS: RendezvousLimits = {
  ...EMBEDDED_LIMITS,
  connections: 128,
  connectionsPerNetwork: 96,
  whenFull: 'ends-oldest',
  keepaliveMs: 0,
  openTimeoutMs: 10_000,
  silentConnections: 128,
  silentConnectionsPerNetwork: 64,
};

/**
 * A rendezvous on connections accepted elsewhere: mailboxes of opaque bodies, in memory (PROTOCOL 2.2).
 *
 * The first connection loads gRPC, unless `ready` has loaded it before.
 */
export class RendezvousServer {
  readonly #limits: RendezvousLimits;
  readonly #mailboxes: Mailboxes;
  readonly #store: MailboxStore;
  readonly #relay: RelayNotice | undefined;
  readonly #connections = new Set<Duplex>();
  /** Counts connections with `refuses-newest`. */
  readonly #networks = new NetworkCount();
  /** Counts connections with `ends-oldest`. */
  readonly #crowd: Crowd;
  readonly #silent: SilentConnections;
  #connectionsRefused = 0;
  #service: Promise<Service> | undefined;
  #closed = false;

  constructor({ limits, relay, share }: RendezvousOptions = {}) {
    this.#relay = relay;
    this.#limits = { ...LIMITS, ...limits };
    this.#mailboxes = new Mailboxes(this.#limits);
    const { connections, connectionsPerNetwork } = this.#limits;
    this.#crowd = new Crowd({ most: connections, mostOfNetwork: connectionsPerNetwork });
    this.#silent = new SilentConnections(this.#limits.openTimeoutMs, {
      most: this.#limits.silentConnections,
      mostOfNetwork: this.#limits.silentConnectionsPerNetwork,
    });
    this.#store = share?.(this.#mailboxes) ?? this.#mailboxes;
  }

  /** Attaches the owner of a contacts' mailbox in this process. @throws as `own` */
  ownContact(mailbox: string): Owner {
    return this.#mailboxes.own(contactMailbox(Buffer.from(mailbox, 'hex')), '', '', 'contact');
  }

  /**
   * Attaches the owner of a mailbox in this process.
   * @param mailbox  32 bytes as lower hex
   * @throws         RENDEZVOUS_BUSY if it has an owner (`detail.taken`), or there are too many mailboxes
   */
  own(mailbox: string): Owner {
    return this.#mailboxes.own(mailbox);
  }

  /** Loads gRPC, so that the first guest does not wait for it. */
  async ready(): Promise<void> {
    await this.#load();
  }

  /** Serves a connection that begins with the HTTP/2 preface; takes ownership of `socket`. */
  attach(socket: Duplex): void {
    // An error also closes the socket, and its conversation ends with it.
    socket.on('error', () => {});
    const { remoteAddress = '', remotePort = 0 } = socket instanceof Socket ? socket : {};
    const network = networkOf(remoteAddress);
    const leave = this.#closed ? undefined : this.#admit(socket, network);
    if (leave === undefined) {
      socket.destroy();
      return;
    }
    // Bodies are small, and each waits for an answer.
    if (socket instanceof Socket) socket.setNoDelay(true);
    this.#connections.add(socket);
    socket.once('close', () => {
      this.#connections.delete(socket);
      leave();
    });
    void this.#load().then((service) => {
      if (this.#closed || socket.destroyed) socket.destroy();
      else {
        this.#silent.add(connectionName(remoteAddress, remotePort), socket, network);
        service.attach(socket);
      }
    });
  }

  get stats(): RendezvousStats {
    return {
      mailboxes: this.#mailboxes.size,
      connections: this.#connections.size,
      conversations: this.#mailboxes.conversations,
      silent: this.#silent.timedOut,
      silentCrowdedOut: this.#silent.crowdedOut,
      conversationsRefused: this.#mailboxes.conversationsRefused,
      connectionsRefused: this.#connectionsRefused,
      guessesRefused: this.#mailboxes.guessesRefused,
    };
  }

  /** Admits no more owners or guests; conversations continue. */
  drain(): void {
    this.#mailboxes.drain();
  }

  /** Ends every conversation and connection. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#mailboxes.close();
    (await this.#service)?.close();
    for (const socket of this.#connections) socket.destroy();
  }

  /** Admits a connection, if need be by ending another one. @returns a function to call at its end; undefined if refused */
  #admit(socket: Duplex, network: string): (() => void) | undefined {
    const { connections, connectionsPerNetwork, whenFull } = this.#limits;
    if (whenFull === 'ends-oldest') {
      return this.#crowd.add(network, () => {
        this.#connections.delete(socket);
        socket.destroy();
      });
    }
    if (this.#connections.size >= connections || !this.#networks.hasRoom(network, connectionsPerNetwork)) {
      this.#connectionsRefused++;
      return undefined;
    }
    this.#networks.add(network);
    return () => this.#networks.remove(network);
  }

  #load(): Promise<Service> {
    const { openTimeoutMs, keepaliveMs } = this.#limits;
    this.#service ??= import('./rendezvous-service.ts').then(({ createService: create }) =>
      create({ mailboxes: this.#store, relay: this.#relay, openTimeoutMs, keepaliveMs, silent: this.#silent }),
    );
    return this.#service;
  }
}

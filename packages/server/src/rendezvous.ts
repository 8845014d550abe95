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
  /** The port it is at relays, too: what `Opened` tells everybody of it. */
  relay?: RelayNotice;
  /** Makes of this server's mailboxes those of several. */
  share?(local: Mailboxes): MailboxStore;
}

export interface RendezvousLimits extends MailboxLimits {
  /** Attached connections at one time. */
  connections: number;
  /** Of those, of one network. */
  connectionsPerNetwork: number;
  /**
   * The policy for one connection too many. `ends-oldest` ends the oldest of its network, so idle ones block no guest;
   * with `refuses-newest` strangers cannot end each other's connections.
   */
  whenFull: 'ends-oldest' | 'refuses-newest';
  /** A connection whose other side does not answer a ping for so long ends; 0: nobody is asked. */
  keepaliveMs: number;
  /** A connection that is in no mailbox for so long ends. */
  openTimeoutMs: number;
  /** Connections that are in no mailbox; one more ends an older one, whatever `whenFull` says. */
  silentConnections: number;
  silentConnectionsPerNetwork: number;
}

/** `mailboxes`, `connections` and `conversations` are of the moment, everything else counts from the start. */
export interface RendezvousStats {
  mailboxes: number;
  connections: number;
  conversations: number;
  connectionsRefused: number;
  /** Connections that were in no mailbox: for too long, or while others came. */
  silent: number;
  silentCrowdedOut: number;
  /** Conversations for which there was no room. */
  conversationsRefused: number;
  /** Attempts turned away because their network had guessed too often. */
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
 * A rendezvous on connections that somebody else accepts: mailboxes of opaque bodies, in memory (PROTOCOL 2.2).
 *
 * gRPC is loaded with the first connection, or by `ready` before it.
 */
export class RendezvousServer {
  readonly #limits: RendezvousLimits;
  readonly #mailboxes: Mailboxes;
  readonly #store: MailboxStore;
  readonly #relay: RelayNotice | undefined;
  readonly #connections = new Set<Duplex>();
  /** Counts connections where the newest is refused. */
  readonly #networks = new NetworkCount();
  /** Has them where an older one ends. */
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

  /** Attaches the owner of a contacts' mailbox in this process. Throws as `own` does. */
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

  /** Resolves once the first guest will be served like any other: gRPC is loaded and warm. */
  async ready(): Promise<void> {
    const [service, { warmUp }] = await Promise.all([this.#load(), import('./warm-up.ts')]);
    if (!this.#closed) await warmUp((connection) => service.attach(connection));
  }

  /** Serves a connection that begins with the HTTP/2 preface; `socket` is owned from now on. */
  attach(socket: Duplex): void {
    // How a guest's connection ends is no concern of ours; its conversation ends with it.
    socket.on('error', () => {});
    const { remoteAddress = '', remotePort = 0 } = socket instanceof Socket ? socket : {};
    const network = networkOf(remoteAddress);
    const leave = this.#closed ? undefined : this.#admit(socket, network);
    if (leave === undefined) {
      socket.destroy();
      return;
    }
    // Bodies are small and each waits for its answer.
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

  /** Lets nobody into a mailbox any more; who is in one stays. */
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

  /** Lets a connection in, and ends another one for it where that is the rule. @returns  to be called at its end; undefined: refused */
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

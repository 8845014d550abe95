// SPDX-License-Identifier: MPL-2.0
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Owner } from '@keibidrop/protocol';
import { contactMailbox, EMBEDDED_LIMITS, Mailboxes, type MailboxLimits, type MailboxStore } from './mailbox.ts';
import { NetworkCount, networkOf } from './network.ts';
import type { createService, RelayNotice } from './rendezvous-service.ts';

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
   * What becomes of one connection too many. `ends-oldest`: idle ones cannot keep everybody else out of a sender that one guest needs.
   * `refuses-newest`: strangers cannot end each other's.
   */
  whenFull: 'ends-oldest' | 'refuses-newest';
  /** A connection whose other side does not answer a ping for so long ends; 0: nobody is asked. */
  keepaliveMs: number;
  /** Time in which a connection must have opened a mailbox. */
  openTimeoutMs: number;
}

/** `mailboxes` and `connections` are of the moment, everything else counts from the start. */
export interface RendezvousStats {
  mailboxes: number;
  connections: number;
  connectionsRefused: number;
  /** Attempts turned away because their network had guessed too often. */
  guessesRefused: number;
}

const LIMITS: RendezvousLimits = {
  ...EMBEDDED_LIMITS,
  connections: 128,
  connectionsPerNetwork: Number.POSITIVE_INFINITY,
  whenFull: 'ends-oldest',
  keepaliveMs: 0,
  openTimeoutMs: 10_000,
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
  readonly #networks = new NetworkCount();
  #connectionsRefused = 0;
  #service: Promise<Service> | undefined;
  #closed = false;

  constructor({ limits, relay, share }: RendezvousOptions = {}) {
    this.#relay = relay;
    this.#limits = { ...LIMITS, ...limits };
    this.#mailboxes = new Mailboxes(this.#limits);
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
    const network = socket instanceof Socket ? networkOf(socket.remoteAddress ?? '') : '';
    if (this.#closed || !this.#makeRoom(network)) {
      socket.destroy();
      return;
    }
    // Bodies are small and each waits for its answer.
    if (socket instanceof Socket) socket.setNoDelay(true);
    this.#connections.add(socket);
    this.#networks.add(network);
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#networks.remove(network);
    });
    void this.#load().then((service) => {
      if (this.#closed) socket.destroy();
      else service.attach(socket);
    });
  }

  get stats(): RendezvousStats {
    return {
      mailboxes: this.#mailboxes.size,
      connections: this.#connections.size,
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

  /** Whether one more connection may come; ends another one for it where that is the rule. */
  #makeRoom(network: string): boolean {
    const { connections, connectionsPerNetwork, whenFull } = this.#limits;
    const crowded = this.#networks.of(network) >= connectionsPerNetwork;
    const full = this.#connections.size >= connections;
    if (crowded || (full && whenFull === 'refuses-newest')) {
      this.#connectionsRefused++;
      return false;
    }
    const [oldest] = this.#connections;
    if (full && oldest !== undefined) {
      this.#connections.delete(oldest);
      oldest.destroy();
    }
    return true;
  }

  #load(): Promise<Service> {
    const { openTimeoutMs, keepaliveMs } = this.#limits;
    this.#service ??= import('./rendezvous-service.ts').then(({ createService: create }) =>
      create({ mailboxes: this.#store, relay: this.#relay, openTimeoutMs, keepaliveMs }),
    );
    return this.#service;
  }
}

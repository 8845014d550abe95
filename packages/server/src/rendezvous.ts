// SPDX-License-Identifier: MPL-2.0
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { EMBEDDED_LIMITS, Mailboxes, type MailboxLimits, type Owner } from './mailbox.ts';
import type { createService } from './rendezvous-service.ts';

type Service = ReturnType<typeof createService>;

export interface RendezvousOptions {
  limits?: Partial<RendezvousLimits>;
}

export interface RendezvousLimits extends MailboxLimits {
  /** Attached connections at one time; one more ends the oldest, so that idle ones cannot keep everybody else out. */
  connections: number;
  /** Time in which a connection must have opened a mailbox. */
  openTimeoutMs: number;
}

const LIMITS: RendezvousLimits = { ...EMBEDDED_LIMITS, connections: 128, openTimeoutMs: 10_000 };

/**
 * A rendezvous on connections that somebody else accepts: mailboxes of opaque bodies, in memory (PROTOCOL 2.2).
 *
 * gRPC is loaded with the first connection, or by `ready` before it.
 */
export class RendezvousServer {
  readonly #limits: RendezvousLimits;
  readonly #mailboxes: Mailboxes;
  readonly #connections = new Set<Duplex>();
  #service: Promise<Service> | undefined;
  #closed = false;

  constructor({ limits }: RendezvousOptions = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#mailboxes = new Mailboxes(this.#limits);
  }

  /**
   * Attaches the owner of a mailbox in this process.
   * @param mailbox  32 bytes as lower hex
   * @throws         RENDEZVOUS_BUSY if it has an owner, or there are too many mailboxes
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
    if (this.#closed) {
      socket.destroy();
      return;
    }
    const [oldest] = this.#connections;
    if (oldest !== undefined && this.#connections.size >= this.#limits.connections) {
      this.#connections.delete(oldest);
      oldest.destroy();
    }
    // Bodies are small and each waits for its answer.
    if (socket instanceof Socket) socket.setNoDelay(true);
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
    void this.#load().then((service) => {
      if (this.#closed) socket.destroy();
      else service.attach(socket);
    });
  }

  /** Ends every conversation and connection. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#mailboxes.close();
    (await this.#service)?.close();
    for (const socket of this.#connections) socket.destroy();
  }

  #load(): Promise<Service> {
    this.#service ??= import('./rendezvous-service.ts').then(({ createService: create }) =>
      create({ mailboxes: this.#mailboxes, openTimeoutMs: this.#limits.openTimeoutMs }),
    );
    return this.#service;
  }
}

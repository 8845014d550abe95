// SPDX-License-Identifier: MPL-2.0
import type { Duplex } from 'node:stream';
import { Crowd, type CrowdLimits } from './crowd.ts';

/** Names a connection by its remote address and port. Both forms of an IPv4 address give the same name. */
export function connectionName(host: string, port: number): string {
  return `${host.replace(/^::ffff:(?=\d+\.)/i, '')} ${port}`;
}

interface Connection {
  readonly socket: Duplex;
  readonly network: string;
  /** Number of mailboxes it is in. */
  open: number;
  /** Whether a call has begun since it last left a mailbox. */
  called: boolean;
  /** Undefined while it is in a mailbox. */
  silence: { timer: NodeJS.Timeout; leave(): void } | undefined;
}

/**
 * Ends connections that are in no mailbox for too long, or of which a network has too many. HTTP/2 alone cannot: a client that never
 * answers keeps its connection open through every goodbye.
 */
export class SilentConnections {
  readonly #timeoutMs: number;
  readonly #crowd: Crowd;
  /** Keyed by remote address and port; connections through one relay may share them. */
  readonly #connections = new Map<string, Set<Connection>>();
  /** Connections ended because they were silent for too long, since the start. */
  timedOut = 0;

  constructor(timeoutMs: number, limits: CrowdLimits) {
    this.#timeoutMs = timeoutMs;
    this.#crowd = new Crowd(limits);
  }

  get crowdedOut(): number {
    return this.#crowd.crowdedOut;
  }

  /** @param otherSide  name of the connection, as for `mailbox` and `spoke` */
  add(otherSide: string, socket: Duplex, network: string): void {
    const connection: Connection = { socket, network, open: 0, called: false, silence: undefined };
    const together = this.#connections.get(otherSide) ?? new Set();
    this.#connections.set(otherSide, together.add(connection));
    this.#watch(connection);
    socket.once('close', () => {
      this.#unwatch(connection);
      together.delete(connection);
      if (together.size === 0 && this.#connections.get(otherSide) === together) this.#connections.delete(otherSide);
    });
  }

  /** A call begins. It has its own time limit, so the first call restarts the connection's. */
  called(otherSide: string): void {
    for (const connection of this.#connections.get(otherSide) ?? []) {
      if (!connection.called) connection.silence?.timer.refresh();
      connection.called = true;
    }
  }

  /** The connection has asked for a mailbox: restarts its time limit. */
  spoke(otherSide: string): void {
    for (const { silence } of this.#connections.get(otherSide) ?? []) silence?.timer.refresh();
  }

  /** The connection is in a mailbox. @returns a function to call once it has left that */
  mailbox(otherSide: string): () => void {
    const together = [...(this.#connections.get(otherSide) ?? [])];
    for (const connection of together) {
      connection.open++;
      connection.called = false;
      this.#unwatch(connection);
    }
    return () => {
      for (const connection of together) {
        if (--connection.open === 0 && !connection.socket.destroyed) this.#watch(connection);
      }
    };
  }

  #watch(connection: Connection): void {
    const timer = setTimeout(() => {
      this.timedOut++;
      connection.socket.destroy();
    }, this.#timeoutMs).unref();
    connection.silence = { timer, leave: this.#crowd.add(connection.network, () => connection.socket.destroy()) };
  }

  #unwatch(connection: Connection): void {
    clearTimeout(connection.silence?.timer);
    connection.silence?.leave();
    connection.silence = undefined;
  }
}

// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { assertBoolean, assertBytes, assertInteger, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';

/** A connection that a Listener accepted (PROTOCOL 2.1). Lanes are not included: native code takes those. */
export interface Incoming {
  /** `control`: the 8-byte preamble was read. `rendezvous`, `http`, `tls`: nothing was read yet. */
  kind: 'rendezvous' | 'control' | 'http' | 'tls';
  /** The callback owns it: wrap it in `new net.Socket({ fd, readable: true, writable: true })` or close it. */
  fd: number;
  /** Numeric; an IPv4-mapped IPv6 address is given as IPv4. */
  remoteAddress: string;
  remotePort: number;
  /** It came through joinRelay(); the address is the relay's. */
  relayed: boolean;
}

/** A relay to be joined (PROTOCOL 2.3). */
export interface RelayPlace {
  /** Numeric. */
  host: string;
  port: number;
  /** 32 bytes; copied. */
  token: Uint8Array;
  /** For the dial, and then for the other side to join. */
  waitMs: number;
}

/** The limits of a relay for strangers (PROTOCOL 2.3). */
export interface RelayLimits {
  /** Concurrent pairs. */
  pairs: number;
  /** Concurrent connections whose other side has not joined. */
  waiting: number;
  /** Concurrent connections, waiting or paired, of one IPv4 address or one IPv6 /64. */
  perAddress: number;
  /** For the other side to join. */
  waitMs: number;
  /** A pair that moves no bytes for this long is closed. */
  idleMs: number;
  /** The maximum lifetime of a pair. */
  lifetimeMs: number;
  /** For all pairs together, both directions; 0: no limit. */
  bytesPerSecond: number;
}

/** `waiting` and `pairs` are current values; the others count from the start. */
export interface RelayStats {
  waiting: number;
  pairs: number;
  /** Pairs. */
  joined: number;
  /** Connections over a limit. */
  refused: number;
  /** Connections whose other side did not join in time. */
  expired: number;
  /** Pairs closed for idleness or age. */
  cut: number;
  /** Forwarded bytes, both directions. */
  bytes: number;
  /** Connections to the port that were closed: an unknown preamble, none in time, or too many others. */
  malformed: number;
  slow: number;
  crowdedOut: number;
}

/** The addon's own object, as other files of native/lib pass it back to native code. */
export interface NativeListener {
  readonly port: number;
  joinRelay(host: string, port: number, token: Uint8Array, waitMs: number, number: number): Promise<void>;
  cancelJoin(number: number): void;
  punch(host: string, port: number, waitMs: number): void;
  serveRelay(
    pairs: number,
    waiting: number,
    perAddress: number,
    waitMs: number,
    idleMs: number,
    lifetimeMs: number,
    bytesPerSecond: number,
  ): void;
  relayStats(): RelayStats;
  close(): void;
}

interface ListenerBinding {
  Listener: new (
    host: string,
    port: number,
    onConnection: (incoming: Incoming) => void,
    http: boolean,
    undecidedOfNetwork: number,
  ) => NativeListener;
}

const MAX_WAIT_MS = 2 ** 31 - 1;
const MAX_COUNT = 2 ** 32 - 1;

/** One TCP port for every kind of connection, served by a native thread. Keeps the process alive until closed. */
export class Listener {
  readonly host: string;
  readonly port: number;

  /** @internal for send-job.ts, which registers the lanes it expects */
  readonly native: NativeListener;
  #joins = 0;

  private constructor(host: string, native: NativeListener) {
    this.host = host;
    this.port = native.port;
    this.native = native;
  }

  /**
   * Listens once it returns. Connections without a known preamble within 10 s, and lanes that are unexpected or
   * invalid, are closed without an answer.
   *
   * @param options.host          numeric IPv4 or IPv6 address, or `localhost` (127.0.0.1)
   * @param options.port          0: any free one
   * @param options.http          hand over connections that begin like HTTP/1 GET or HEAD, or like TLS, instead of closing them
   * @param options.undecidedOfNetwork  connections of one network without a preamble yet; one more closes its oldest. 0: no limit
   * @param options.onConnection  called on this thread, never after close()
   * @throws                      a system error, `code` being EADDRINUSE, EACCES, EADDRNOTAVAIL and the like
   */
  static open(options: {
    host: string;
    port: number;
    http?: boolean;
    undecidedOfNetwork?: number;
    onConnection(incoming: Incoming): void;
  }): Listener {
    const { onConnection, port, http = false, undecidedOfNetwork = 0 } = options;
    const host = options.host === 'localhost' ? '127.0.0.1' : options.host;
    if (typeof host !== 'string' || isIP(host) === 0) throw misuse('host must be an IP address or localhost');
    assertInteger('port', port, 0, 65535);
    assertBoolean('http', http);
    assertInteger('undecidedOfNetwork', undecidedOfNetwork, 0, MAX_COUNT);
    if (typeof onConnection !== 'function') throw misuse('onConnection must be a function');
    return new Listener(
      host,
      new (loadBinding<ListenerBinding>().Listener)(host, port, onConnection, http, undecidedOfNetwork),
    );
  }

  /**
   * Dials a relay and waits there for the other side. The joined connection is treated like an accepted one: it goes to
   * `onConnection`, or becomes a lane.
   *
   * @throws PEER_UNREACHABLE (the relay cannot be dialled, or hung up), RENDEZVOUS_BUSY (it has no room), HANDSHAKE_TIMEOUT
   *         (the other side did not join), CANCELLED after close(); `signal.reason` on abort, which closes the connection
   */
  async joinRelay({ host, port, token, waitMs }: RelayPlace, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
    signal?.throwIfAborted();
    if (isIP(host) === 0) throw misuse('host must be an IP address');
    assertInteger('port', port, 1, 65535);
    assertBytes('token', token, 32);
    assertInteger('waitMs', waitMs, 1, MAX_WAIT_MS);
    const number = ++this.#joins;
    const onAbort = () => this.native.cancelJoin(number);
    signal?.addEventListener('abort', onAbort);
    try {
      await this.native.joinRelay(host, port, token, waitMs, number);
    } catch (reason) {
      signal?.throwIfAborted();
      throw reason;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Dials a peer from this port while the peer dials us, so that routers on both sides let the connection in (PROTOCOL 2.5).
   * A connection within `waitMs` is treated like an accepted one; a failure is not reported.
   *
   * @param place.host  numeric
   */
  punch({ host, port, waitMs }: { host: string; port: number; waitMs: number }): void {
    if (isIP(host) === 0) throw misuse('host must be an IP address');
    assertInteger('port', port, 1, 65535);
    assertInteger('waitMs', waitMs, 1, MAX_WAIT_MS);
    this.native.punch(host, port, waitMs);
  }

  /**
   * From now on, joins strangers' connections that show the same token; without this call they are closed. A later call
   * sets new limits for new connections: with 0 `pairs` and `waiting` all are refused, and existing pairs continue.
   */
  serveRelay({ pairs, waiting, perAddress, waitMs, idleMs, lifetimeMs, bytesPerSecond }: RelayLimits): void {
    assertInteger('pairs', pairs, 0, MAX_COUNT);
    assertInteger('waiting', waiting, 0, MAX_COUNT);
    assertInteger('perAddress', perAddress, 0, MAX_COUNT);
    assertInteger('waitMs', waitMs, 1, MAX_WAIT_MS);
    assertInteger('idleMs', idleMs, 1, MAX_WAIT_MS);
    assertInteger('lifetimeMs', lifetimeMs, 1, MAX_WAIT_MS);
    assertInteger('bytesPerSecond', bytesPerSecond, 0, Number.MAX_SAFE_INTEGER);
    this.native.serveRelay(pairs, waiting, perAddress, waitMs, idleMs, lifetimeMs, bytesPerSecond);
  }

  relayStats(): RelayStats {
    return this.native.relayStats();
  }

  /** Frees the port and closes every connection that was not handed over. Idempotent. */
  async close(): Promise<void> {
    this.native.close();
  }
}

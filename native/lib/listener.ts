// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { assertBoolean, assertBytes, assertInteger, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';

/** A connection that someone made to a Listener (PROTOCOL 2.1). Lanes are not among them: native code takes those. */
export interface Incoming {
  /** `control`: the 8 bytes of the preamble were read. `rendezvous`, `http`, `tls`: nothing was read yet. */
  kind: 'rendezvous' | 'control' | 'http' | 'tls';
  /** The callback owns it: wrap it in `new net.Socket({ fd, readable: true, writable: true })` or close it. */
  fd: number;
  /** Numeric; an IPv4 address inside an IPv6 one is shown as IPv4. */
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
  /** For the dial and for the other side to come. */
  waitMs: number;
}

/** What a relay lets strangers have (PROTOCOL 2.3). */
export interface RelayLimits {
  /** Pairs at one time. */
  pairs: number;
  /** Connections at one time whose other side has not come. */
  waiting: number;
  /** Connections at one time, waiting or paired, of one IPv4 address or one IPv6 /64. */
  perAddress: number;
  /** For the other side to come. */
  waitMs: number;
  /** A pair through which nothing moves for so long ends. */
  idleMs: number;
  /** No pair lives longer. */
  lifetimeMs: number;
  /** Of all pairs together, both ways; 0: as many as they can. */
  bytesPerSecond: number;
}

/** `waiting` and `pairs` are of the moment, everything else counts from the start. */
export interface RelayStats {
  waiting: number;
  pairs: number;
  /** Pairs. */
  joined: number;
  /** Connections for which there was no room. */
  refused: number;
  /** Connections to which nobody came in time. */
  expired: number;
  /** Pairs that were idle for too long or lived too long. */
  cut: number;
  /** Forwarded, both ways. */
  bytes: number;
  /** Connections to the port that were closed because they said nothing the port knows, or not in time, or because others came. */
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
   * Listens from its return on. What sends no known preamble within 10 s, and every lane that is not expected or not
   * right, is closed without an answer.
   *
   * @param options.host          numeric IPv4 or IPv6 address, or `localhost` (127.0.0.1)
   * @param options.port          0: any free one
   * @param options.http          hand over connections that begin like HTTP/1 GET or HEAD, or like TLS, instead of closing them
   * @param options.undecidedOfNetwork  connections of one network that have not said what they are; one more closes its oldest. 0: no such limit
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
   * Dials a relay and waits there for the other side. The connection that comes of it is treated like one that was
   * accepted: it arrives by `onConnection`, or is taken as a lane.
   *
   * @throws PEER_UNREACHABLE (the relay cannot be dialled, or hung up), RENDEZVOUS_BUSY (it has no room), HANDSHAKE_TIMEOUT
   *         (nobody came), CANCELLED after close(); `signal.reason` on abort, which closes the connection
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
   * What comes of it within `waitMs` is treated like a connection that was accepted; if nothing does, nobody is told.
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
   * Joins strangers' connections that show one token, from now on; before, they are closed. Called again, the new limits
   * hold for what comes: `pairs` and `waiting` of 0 let nobody in any more, and what runs goes on.
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

  /** Frees the port and closes every connection not handed over yet. Idempotent. */
  async close(): Promise<void> {
    this.native.close();
  }
}

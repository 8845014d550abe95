// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { assertInteger, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';

/** A connection that someone made to a Listener (PROTOCOL 2.1). Lanes are not among them: native code takes those. */
export interface Incoming {
  /** `rendezvous`: nothing was read from it yet. `control`: the 8 bytes of the preamble were. */
  kind: 'rendezvous' | 'control';
  /** The callback owns it: wrap it in `new net.Socket({ fd, readable: true, writable: true })` or close it. */
  fd: number;
  /** Numeric; an IPv4 address inside an IPv6 one is shown as IPv4. */
  remoteAddress: string;
  remotePort: number;
}

/** The addon's own object, as other files of native/lib pass it back to native code. */
export interface NativeListener {
  readonly port: number;
  close(): void;
}

interface ListenerBinding {
  Listener: new (host: string, port: number, onConnection: (incoming: Incoming) => void) => NativeListener;
}

/** One TCP port for rendezvous, control and lanes, served by a native thread. Keeps the process alive until closed. */
export class Listener {
  readonly host: string;
  readonly port: number;

  /** @internal for send-job.ts, which registers the lanes it expects */
  readonly native: NativeListener;

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
   * @param options.onConnection  called on this thread, never after close()
   * @throws                      a system error, `code` being EADDRINUSE, EACCES, EADDRNOTAVAIL and the like
   */
  static open(options: { host: string; port: number; onConnection(incoming: Incoming): void }): Listener {
    const { onConnection, port } = options;
    const host = options.host === 'localhost' ? '127.0.0.1' : options.host;
    if (typeof host !== 'string' || isIP(host) === 0) throw misuse('host must be an IP address or localhost');
    assertInteger('port', port, 0, 65535);
    if (typeof onConnection !== 'function') throw misuse('onConnection must be a function');
    return new Listener(host, new (loadBinding<ListenerBinding>().Listener)(host, port, onConnection));
  }

  /** Frees the port and closes every connection not handed over yet. Idempotent. */
  async close(): Promise<void> {
    this.native.close();
  }
}

// SPDX-License-Identifier: MPL-2.0
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { KeibiError } from '@keibidrop/protocol';
import { Crowd, type CrowdLimits } from './crowd.ts';
import { networkOf } from './network.ts';

/** PEM files: the certificate with its intermediate certificates, and its key. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** A renewed certificate is often a changed symlink, which only polling notices. */
const FILES_LOOK_MS = 10_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Limits on connections in their handshake. */
const HANDSHAKES: CrowdLimits = { most: 512, mostOfNetwork: 64 };

/** Connections that did not complete their handshake, by reason, since the start. */
export interface TlsDrops {
  /** The handshake failed, or the other side left. */
  failed: number;
  slow: number;
  crowdedOut: number;
}

/** The TLS side of a port: performs handshakes on connections accepted elsewhere and reports the protocol that the client chose. */
export class TlsListener {
  readonly #files: CertificateFiles;
  readonly #server: Server;
  readonly #crowd = new Crowd(HANDSHAKES);
  /** Called once a handshake is complete; keyed by remote address and port. */
  readonly #done = new Map<string, () => void>();
  #unwatch = () => {};
  #failed = 0;
  #slow = 0;

  /**
   * @param handOver  receives a connection after its handshake: HTTP/2 is the rendezvous, anything else a status page
   * @throws          CONFIG_INVALID if the files are not a certificate and its key
   */
  constructor(files: CertificateFiles, handOver: (secure: TLSSocket, kind: 'rendezvous' | 'http') => void) {
    this.#files = files;
    this.#server = withFiles(files, (pems) =>
      createServer({
        ...pems,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        // Browsers offer both protocols, peers only h2.
        ALPNCallback: ({ protocols }) => ['http/1.1', 'h2'].find((each) => protocols.includes(each)),
      }),
    );
    // Node leaves a connection open after a failed or slow handshake.
    this.#server.on('tlsClientError', (_error, secure) => secure.destroy());
    this.#server.on('secureConnection', (secure) => {
      this.#done.get(otherSideOf(secure))?.();
      secure.on('error', () => {});
      handOver(secure, secure.alpnProtocol === 'h2' ? 'rendezvous' : 'http');
    });
  }

  get drops(): TlsDrops {
    return { failed: this.#failed, slow: this.#slow, crowdedOut: this.#crowd.crowdedOut };
  }

  /** Reads the files again for future connections; keeps the old certificate on an error. @throws CONFIG_INVALID */
  reload(): void {
    withFiles(this.#files, (pems) => this.#server.setSecureContext(pems));
  }

  /** Calls `onChange` when a file was replaced or written, until closed. */
  watch(onChange: () => void): void {
    for (const file of [this.#files.cert, this.#files.key]) {
      watchFile(file, { interval: FILES_LOOK_MS, persistent: false }, onChange);
    }
    this.#unwatch = () => {
      for (const file of [this.#files.cert, this.#files.key]) unwatchFile(file, onChange);
    };
  }

  /** Performs the handshake on `socket` and takes ownership of it. */
  attach(socket: Socket): void {
    let waits = true;
    const settle = () => {
      waits = false;
      clearTimeout(timer);
      leave();
      if (this.#done.get(otherSide) === settle) this.#done.delete(otherSide);
    };
    const end = () => {
      settle();
      socket.destroy();
    };
    const timer = setTimeout(() => {
      this.#slow++;
      end();
    }, HANDSHAKE_TIMEOUT_MS).unref();
    const leave = this.#crowd.add(networkOf(socket.remoteAddress ?? ''), end);
    const otherSide = otherSideOf(socket);
    this.#done.set(otherSide, settle);
    socket.on('error', () => {});
    socket.once('close', () => {
      if (waits) this.#failed++;
      settle();
    });
    this.#server.emit('connection', socket);
  }

  close(): void {
    this.#unwatch();
    this.#crowd.close();
  }
}

function otherSideOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function withFiles<T>({ cert, key }: CertificateFiles, use: (pems: { cert: Buffer; key: Buffer }) => T): T {
  try {
    return use({ cert: readFileSync(cert), key: readFileSync(key) });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const text = `${cert} and ${key} are no certificate and its key, both in PEM (${why}). Check --cert and --key.`;
    throw new KeibiError('CONFIG_INVALID', text, { cause });
  }
}

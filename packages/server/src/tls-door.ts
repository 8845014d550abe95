// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { KeibiError } from '@keibidrop/protocol';

/** PEM files: the certificate with those between it and its authority, and its key. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** In their handshake at one time. */
const MAX_HANDSHAKES = 256;

/** The TLS side of a port: shakes hands over connections that somebody else accepts, and tells what was asked for. */
export class TlsDoor {
  readonly #files: CertificateFiles;
  readonly #server: Server;
  /** By the address and port of their other side. */
  readonly #shaking = new Map<string, Socket>();

  /**
   * @param handOver  takes what has shaken hands: HTTP/2 is the rendezvous, anything else a status page
   * @throws          CONFIG_INVALID if the files are no certificate and its key
   */
  constructor(files: CertificateFiles, handOver: (secure: TLSSocket, kind: 'rendezvous' | 'http') => void) {
    this.#files = files;
    this.#server = withFiles(files, (pems) =>
      createServer({
        ...pems,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        // Browsers offer both; peers h2 alone.
        ALPNCallback: ({ protocols }) => ['http/1.1', 'h2'].find((each) => protocols.includes(each)),
      }),
    );
    this.#server.on('secureConnection', (secure) => {
      this.#shaking.delete(otherSideOf(secure));
      secure.on('error', () => {});
      handOver(secure, secure.alpnProtocol === 'h2' ? 'rendezvous' : 'http');
    });
  }

  /** Reads the files again, for connections to come; the old ones stay if that fails. @throws CONFIG_INVALID */
  reload(): void {
    withFiles(this.#files, (pems) => this.#server.setSecureContext(pems));
  }

  /** Shakes hands over `socket`, owned from now on. */
  attach(socket: Socket): void {
    socket.on('error', () => {});
    if (this.#shaking.size >= MAX_HANDSHAKES) {
      socket.destroy();
      return;
    }
    const otherSide = otherSideOf(socket);
    this.#shaking.set(otherSide, socket);
    socket.once('close', () => this.#shaking.delete(otherSide));
    this.#server.emit('connection', socket);
  }

  close(): void {
    for (const socket of this.#shaking.values()) socket.destroy();
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

// SPDX-License-Identifier: MPL-2.0
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Registry } from 'prom-client';
import { Crowd } from './crowd.ts';
import { DialBack } from './dial-back.ts';
import { NetworkCount, networkOf } from './network.ts';

/** From the first byte of a request to the last byte of its answer. */
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 8192;

/** Share of all concurrent requests that one network may have. */
const SHARE_OF_NETWORK = 1 / 8;

export interface StatusPagesOptions {
  /** A short reason for a load balancer to avoid this server; undefined if it is healthy. */
  trouble(): string | undefined;
  metrics: Registry;
  /** Incomplete requests at one time, and equally many slow answers. */
  requests: number;
}

/** Requests that were not answered, by reason, since the start. */
export interface PageDrops {
  malformed: number;
  slow: number;
  crowdedOut: number;
  /** Answered with 503. */
  busy: number;
}

/**
 * Serves `/healthz`, `/metrics`, `/observed` and `/reached` on connections that its owner attaches; one request each.
 *
 * `/healthz` and `/observed` are answered under any load: only incomplete requests are crowded out, the oldest of their
 * network first.
 */
export class StatusPages {
  readonly #options: StatusPagesOptions;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly #crowd: Crowd;
  /** Connections with an incomplete request; each function gives up the place in the crowd. */
  readonly #incomplete = new Map<Socket, () => void>();
  /** Slow answers in progress, per network. */
  readonly #answering = new NetworkCount();
  #answers = 0;
  readonly #dialBack = new DialBack();
  readonly #mostOfNetwork: number;
  #malformed = 0;
  #slow = 0;
  #busy = 0;

  constructor(options: StatusPagesOptions) {
    this.#options = options;
    this.#mostOfNetwork = Math.max(1, Math.floor(options.requests * SHARE_OF_NETWORK));
    this.#crowd = new Crowd({ most: options.requests, mostOfNetwork: this.#mostOfNetwork });
    this.#server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
      this.#complete(request.socket);
      this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (error.code !== 'ECONNRESET') this.#malformed++;
      socket.destroy();
    });
  }

  get drops(): PageDrops {
    return { malformed: this.#malformed, slow: this.#slow, crowdedOut: this.#crowd.crowdedOut, busy: this.#busy };
  }

  attach(socket: Socket): void {
    socket.on('error', () => {});
    this.#open.add(socket);
    const timer = setTimeout(() => {
      this.#slow++;
      socket.destroy();
    }, REQUEST_TIMEOUT_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      this.#complete(socket);
      this.#open.delete(socket);
    });
    this.#incomplete.set(socket, () => {});
    this.#server.emit('connection', socket);
    // After two turns of the event loop, requests that have fully arrived are read. So a burst of them does not crowd itself out.
    setImmediate(() => setImmediate(() => this.#await(socket)));
  }

  #await(socket: Socket): void {
    if (!this.#incomplete.has(socket) || socket.destroyed) return;
    const network = networkOf(socket.remoteAddress ?? '');
    this.#incomplete.set(
      socket,
      this.#crowd.add(network, () => socket.destroy()),
    );
  }

  #complete(socket: Socket): void {
    this.#incomplete.get(socket)?.();
    this.#incomplete.delete(socket);
  }

  close(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('connection', 'close');
    const { pathname: path, searchParams } = new URL(request.url ?? '', 'http://peer');
    const { trouble, metrics } = this.#options;
    const asker = endpointOf(request.socket);
    if (request.method !== 'GET' && request.method !== 'HEAD') end(response, 405, 'GET or HEAD\n');
    else if (path === '/healthz') end(response, trouble() === undefined ? 200 : 503, `${trouble() ?? 'ok'}\n`);
    else if (path === '/observed') end(response, 200, JSON.stringify(asker), 'application/json');
    else if (path !== '/metrics' && path !== '/reached') {
      end(response, 404, 'There is /healthz, /metrics, /observed and /reached.\n');
    } else if (!this.#begin(asker.host, response)) {
      end(response, 503, 'Too many requests are being answered. Try again in a moment.\n');
    } else if (path === '/metrics') end(response, 200, await metrics.metrics(), metrics.contentType);
    else {
      const reached = await this.#dialBack.reaches(asker.host, Number(searchParams.get('port')));
      end(response, reached === undefined ? 400 : 200, JSON.stringify({ reached }), 'application/json');
    }
  }

  /** Counts an answer until its connection ends; false if there are too many. */
  #begin(host: string, response: ServerResponse): boolean {
    const network = networkOf(host);
    if (this.#answers >= this.#options.requests || !this.#answering.hasRoom(network, this.#mostOfNetwork)) {
      this.#busy++;
      return false;
    }
    this.#answers++;
    this.#answering.add(network);
    response.once('close', () => {
      this.#answers--;
      this.#answering.remove(network);
    });
    return true;
  }
}

/** The address at which this server sees a peer's port (PROTOCOL 2.5). */
function endpointOf({ remoteAddress = '', remotePort = 0 }: Socket): { host: string; port: number } {
  return { host: remoteAddress.replace(/^::ffff:(?=\d+\.)/i, ''), port: remotePort };
}

function end(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}

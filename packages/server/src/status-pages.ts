// SPDX-License-Identifier: MPL-2.0
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Registry } from 'prom-client';
import { DialBack } from './dial-back.ts';

/** From the first byte of a request to the last of its answer. */
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 8192;

export interface StatusPagesOptions {
  /** Why whoever balances load had better look elsewhere, in a few words; undefined if all is well. */
  trouble(): string | undefined;
  metrics: Registry;
  /** Connections at one time. */
  requests: number;
}

/** `/healthz`, `/metrics`, `/observed` and `/reached` over connections that somebody else accepts; one request each. */
export function createStatusPages({ trouble, metrics, requests }: StatusPagesOptions): {
  attach(socket: Socket): void;
  close(): void;
} {
  const open = new Set<Socket>();
  const dialBack = new DialBack();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('connection', 'close');
    const { pathname: path, searchParams } = new URL(request.url ?? '', 'http://peer');
    if (request.method !== 'GET' && request.method !== 'HEAD') end(response, 405, 'GET or HEAD\n');
    else if (path === '/healthz') end(response, trouble() === undefined ? 200 : 503, `${trouble() ?? 'ok'}\n`);
    else if (path === '/metrics') end(response, 200, await metrics.metrics(), metrics.contentType);
    else if (path === '/observed') end(response, 200, JSON.stringify(endpointOf(request.socket)), 'application/json');
    else if (path === '/reached') {
      const reached = await dialBack.reaches(endpointOf(request.socket).host, Number(searchParams.get('port')));
      end(response, reached === undefined ? 400 : 200, JSON.stringify({ reached }), 'application/json');
    } else end(response, 404, 'There is /healthz, /metrics, /observed and /reached.\n');
  };
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  return {
    attach(socket) {
      socket.on('error', () => {});
      if (open.size >= requests) {
        socket.destroy();
        return;
      }
      open.add(socket);
      const timer = setTimeout(() => socket.destroy(), REQUEST_TIMEOUT_MS).unref();
      socket.once('close', () => {
        clearTimeout(timer);
        open.delete(socket);
      });
      server.emit('connection', socket);
    },
    close() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** How a peer that asks from a port of its own is seen from here (PROTOCOL 2.5). */
function endpointOf({ remoteAddress = '', remotePort = 0 }: Socket): { host: string; port: number } {
  return { host: remoteAddress.replace(/^::ffff:(?=\d+\.)/i, ''), port: remotePort };
}

function end(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}

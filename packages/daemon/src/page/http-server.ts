// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { local } from '@keibidrop/proto';
import { KeibiError, MAX_TEXT_BYTES } from '@keibidrop/protocol';
import { isMethod, isStreaming, type LocalCalls, type Method, requestOf } from '../local/local-calls.ts';
import { localErrorOf } from '../local/local-error.ts';
import type { Drops } from './drops.ts';
import { type PageAssets, readPage } from './page-assets.ts';
import { PageKeys } from './page-keys.ts';
import { listenForPage, type PagePlace } from './page-place.ts';
import { answerDrop, unbroken } from './upload-handler.ts';

const HOST = '127.0.0.1';
/** A text whose every byte JSON may escape as six. */
const MAX_BODY_BYTES = 6 * MAX_TEXT_BYTES + 4096;
const API = '/api/';
const DROP = /^\/drop(\/|$)/;
const ENTER = '/enter';
const PROOF = '/proof/';
/** Time limit from the first byte of a call to its last; uploads have their own limit. */
const CALL_MS = 30_000;
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** HTTP statuses of the error codes that do not map to FAILED. */
const STATUS: Readonly<Record<string, number>> = { USAGE: 400, DAEMON_REFUSED: 403, INTERNAL: 500 };
const FAILED = 422;
/** Limit of a refused body that is still read. */
const MAX_UNREAD_BYTES = 64 * 2 ** 20;
const BINARY = /^(image|font)\//;

/** The services that the HTTP server exposes. */
export interface ServedByHttp {
  calls: LocalCalls;
  drops: Drops;
  /** The folder of the page; absent: no page. */
  pageDir: string | undefined;
}

/**
 * The HTTP server of the daemon. It serves the page, the calls of Local as `POST /api/NAME` with JSON in both directions, and drops. Streaming
 * calls reply with one line of JSON per message.
 *
 * It listens on loopback, which every user and every web page of this machine can reach. So a call needs the keys of this
 * user's browsers and programs (PageKeys). Its Host must be this address, and its Origin, if the browser sends one, this page.
 * A page of another origin can neither call nor, through DNS rebinding, read.
 */
export class HttpServer {
  readonly #server: Server;
  readonly #behind: ServedByHttp;
  readonly #page: PageAssets;
  #place: PagePlace | undefined;
  #known: PageKeys | undefined;

  private constructor(behind: ServedByHttp, page: PageAssets) {
    this.#behind = behind;
    this.#page = page;
    // Uploads may take any time; calls have their own limit.
    const limits = { maxHeaderSize: 16 * 1024, headersTimeout: CALL_MS, requestTimeout: 0 };
    this.#server = createServer(limits, (request, response) => void this.#serve(request, response));
  }

  /** @param kept  the previous address of the page */
  static async open(behind: ServedByHttp, kept: PagePlace | undefined): Promise<HttpServer> {
    const opened = new HttpServer(behind, await readPage(behind.pageDir));
    opened.#place = await listenForPage(opened.#server, kept);
    opened.#known = new PageKeys(opened.#place.secret, opened.address);
    return opened;
  }

  /** The page's address, which is stored for the next daemon. */
  get place(): PagePlace {
    if (this.#place === undefined) throw new KeibiError('INTERNAL');
    return this.#place;
  }

  /** `HOST:PORT` */
  get address(): string {
    return `${HOST}:${this.place.port}`;
  }

  /** For programs of this user. */
  get token(): string {
    return this.#keys.token;
  }

  /** A page URL that opens once. The ticket follows the `#`, which browsers never send to a server. */
  newUrl(): string {
    return `http://${this.address}/#ticket=${this.#keys.newTicket()}`;
  }

  get #keys(): PageKeys {
    if (this.#known === undefined) throw new KeibiError('DAEMON_REFUSED');
    return this.#known;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const path = request.url ?? '';
    try {
      this.#assertOurs(request);
      if (path.startsWith(API)) await this.#call(path.slice(API.length), request, response);
      else if (DROP.test(path)) await this.#drop(request, response);
      else if (path === ENTER) await this.#enter(request, response);
      else if (path.startsWith(PROOF)) answer(response, 200, this.#keys.proof(path.slice(PROOF.length)), 'text/plain');
      else serveAsset(this.#page, path, request, response);
    } catch (reason) {
      refuse(request, response, reason);
    }
  }

  /** @throws DAEMON_REFUSED for a request that may come from another page, or from another host name for this address */
  #assertOurs({ headers }: IncomingMessage): void {
    const site = headers['sec-fetch-site'];
    const ours =
      headers.host === this.address &&
      (headers.origin === undefined || headers.origin === `http://${this.address}`) &&
      (site === undefined || site === 'same-origin' || site === 'none' || headers['sec-fetch-mode'] === 'navigate');
    if (!ours) throw new KeibiError('DAEMON_REFUSED', 'The daemon takes calls of its own page only.');
  }

  /** Gives a browser its cookie and the key of the page. */
  async #enter(request: IncomingMessage, response: ServerResponse): Promise<void> {
    assertJsonCall(request);
    const { ticket } = parsedOf(await bodyOf(request)) as { ticket?: unknown };
    const key = this.#keys.enter(String(ticket));
    response.setHeader('set-cookie', this.#keys.setCookie);
    answer(response, 200, JSON.stringify({ key }));
  }

  async #drop(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#keys.assertAuthorized(request.headers);
    answer(response, 200, JSON.stringify(await answerDrop(this.#behind.drops, request)));
  }

  async #call(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#keys.assertAuthorized(request.headers);
    assertJsonCall(request);
    const method = name.charAt(0).toLowerCase() + name.slice(1);
    if (!isMethod(method)) throw new KeibiError('USAGE', 'There is no such call.');
    const asked = await asMessage(method, request);
    const gone = new AbortController();
    response.once('close', () => gone.abort(new KeibiError('CANCELLED')));
    const handler = this.#behind.calls[method] as (request: unknown, caller: { signal: AbortSignal }) => unknown;
    const replied = handler(asked, { signal: gone.signal });
    // Opening a page renews its cookie.
    if (method === 'watch' && request.headers.cookie !== undefined) {
      response.setHeader('set-cookie', this.#keys.setCookie);
    }
    if (isStreaming(method)) await stream(replied as AsyncIterable<unknown>, response, gone.signal);
    else answer(response, 200, JSON.stringify(await replied));
  }
}

/** @throws USAGE */
function assertJsonCall({ method, headers }: IncomingMessage): void {
  if (method !== 'POST') throw new KeibiError('USAGE', 'Calls are made with POST.');
  if (!/^application\/json(;|$)/.test(headers['content-type'] ?? '')) {
    throw new KeibiError('USAGE', 'Calls are JSON: content-type application/json.');
  }
}

/** Converts the body to the message that gRPC would deliver. @throws USAGE */
async function asMessage(method: Method, request: IncomingMessage): Promise<unknown> {
  const { requestSerialize, requestDeserialize } = local.LocalService[method];
  const body = await bodyOf(request);
  const asked = parsedOf(body);
  try {
    const message = requestOf(method, asked);
    return requestDeserialize((requestSerialize as (value: unknown) => Buffer)(message));
  } catch (cause) {
    throw new KeibiError('USAGE', 'That is not a valid request of this call.', { cause });
  }
}

/** @throws USAGE */
function parsedOf(body: string): object {
  try {
    const value: unknown = JSON.parse(body === '' ? '{}' : body);
    if (typeof value === 'object' && value !== null) return value;
  } catch (cause) {
    throw new KeibiError('USAGE', 'The body is not JSON.', { cause });
  }
  throw new KeibiError('USAGE', 'The body is not a JSON object.');
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), CALL_MS);
  try {
    for await (const piece of unbroken(request)) {
      bytes += piece.length;
      if (bytes > MAX_BODY_BYTES) throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'That request is too long.');
      pieces.push(piece);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(pieces).toString();
}

/** Writes one line of JSON per reply. A failure in the middle is the last line, `{"error": …}`. */
async function stream(replies: AsyncIterable<unknown>, response: ServerResponse, gone: AbortSignal): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  try {
    for await (const reply of replies) {
      if (!response.write(`${JSON.stringify(reply)}\n`)) await once(response, 'drain', { signal: gone });
    }
    response.end();
  } catch (reason) {
    if (!gone.aborted) response.end(`${JSON.stringify({ error: localErrorOf(reason) })}\n`);
  }
}

function serveAsset(page: PageAssets, path: string, { method }: IncomingMessage, response: ServerResponse): void {
  const asset = page.get(path);
  if (asset === undefined) answer(response, 404, 'Not found.\n', 'text/plain');
  else if (method !== 'GET' && method !== 'HEAD') answer(response, 405, 'GET or HEAD\n', 'text/plain');
  else answer(response, 200, asset.body, asset.type);
}

function refuse(request: IncomingMessage, response: ServerResponse, reason: unknown): void {
  const error = localErrorOf(reason);
  // A client that is still sending sees the reply only if its body is read, or if the connection is closed.
  const { 'content-length': length = MAX_UNREAD_BYTES + 1 } = request.headers;
  if (Number(length) > MAX_UNREAD_BYTES) response.setHeader('connection', 'close');
  else request.resume();
  answer(response, STATUS[error.code] ?? FAILED, JSON.stringify({ error }));
}

function answer(response: ServerResponse, status: number, body: string | Buffer, type = 'application/json'): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const charset = BINARY.test(type) ? '' : '; charset=utf-8';
  response.writeHead(status, { 'content-type': type + charset, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

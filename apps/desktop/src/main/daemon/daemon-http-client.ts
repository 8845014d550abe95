// SPDX-License-Identifier: MPL-2.0
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { ReplyOf, RequestOf, Streaming, Unary } from '@keibidrop/daemon/local';
import { ApiError } from '../../shared/api.ts';
import type { Failure } from '../../shared/requests.ts';

const NAME = /^[a-z][A-Za-z]{0,63}$/;
const UNREACHABLE = 'UNREACHABLE';

/** As `keibidrop ui --json` prints it. */
export interface DaemonAddress {
  readonly url: string;
  readonly token: string;
}

export interface StreamOptions<T> {
  signal: AbortSignal;
  /** Called in order with the replies that arrived together. */
  onReplies(replies: T[]): void;
}

/** Calls the daemon through its HTTP port: `POST /api/NAME`, JSON both ways, one line per reply of a stream. */
export class DaemonHttpClient {
  readonly #url: URL;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor({ url, token }: DaemonAddress) {
    this.#url = new URL(url);
    this.#token = token;
  }

  /** @throws ApiError from the daemon, or UNREACHABLE; `signal.reason` */
  async call<M extends Unary>(
    method: M,
    request: Partial<RequestOf<M>>,
    { signal }: { signal: AbortSignal },
  ): Promise<ReplyOf<M>> {
    let text = '';
    await this.#post(method, request, signal, (piece) => {
      text += piece;
    });
    return JSON.parse(text) as ReplyOf<M>;
  }

  /** Resolves when the daemon has ended the stream. @throws as `call` does */
  async stream<M extends Streaming>(
    method: M,
    request: Partial<RequestOf<M>>,
    { signal, onReplies }: StreamOptions<ReplyOf<M>>,
  ): Promise<void> {
    let begun = '';
    await this.#post(method, request, signal, (piece) => {
      const lines = (begun + piece).split('\n');
      begun = lines.pop() ?? '';
      const replies = lines.map((line) => JSON.parse(line) as ReplyOf<M>);
      const failed = replies.map(failureIn).find((failure) => failure !== undefined);
      if (failed !== undefined) throw failed;
      if (replies.length > 0) onReplies(replies);
    });
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
  }

  #post(method: string, body: object, signal: AbortSignal, onPiece: (piece: string) => void): Promise<void> {
    signal.throwIfAborted();
    // The name becomes part of the path.
    if (!NAME.test(method)) throw new ApiError('USAGE', 'Unknown call.');
    const path = `/api/${method.charAt(0).toUpperCase()}${method.slice(1)}`;
    const { hostname: host, port } = this.#url;
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const asked = httpRequest({ host, port, path, method: 'POST', headers, agent: this.#agent });
      const onAbort = () => asked.destroy();
      const settle = (reason?: unknown) => {
        signal.removeEventListener('abort', onAbort);
        if (signal.aborted) reject(signal.reason);
        else if (reason === undefined) resolve();
        else reject(reason instanceof ApiError ? reason : new ApiError(UNREACHABLE, String(reason)));
        // Drop the rest of a response that failed midway.
        if (reason !== undefined) asked.destroy();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const onClose = () => settle('The connection was closed.');
      asked.once('error', settle);
      asked.once('close', onClose);
      asked.once('response', (response) => {
        // The request closes before its response is read to the end, so the response decides from here on.
        asked.removeListener('close', onClose);
        read(response, onPiece).then(() => settle(), settle);
      });
      asked.end(JSON.stringify(body));
    });
  }
}

/** @throws ApiError from the daemon; errors of `onPiece` */
async function read(response: IncomingMessage, onPiece: (piece: string) => void): Promise<void> {
  response.setEncoding('utf8');
  if (response.statusCode === 200) {
    for await (const piece of response) onPiece(piece as string);
    if (!response.complete) throw new ApiError(UNREACHABLE, 'The connection was closed.');
    return;
  }
  let text = '';
  for await (const piece of response) text += piece;
  throw failureIn(parsed(text)) ?? new ApiError('INTERNAL', `The daemon answered ${response.statusCode}.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error in a reply `{"error": …}`; undefined for any other reply. */
function failureIn(reply: unknown): ApiError | undefined {
  if (typeof reply !== 'object' || reply === null || !('error' in reply)) return undefined;
  const { code, message, detail } = (reply.error ?? {}) as Partial<Failure>;
  return typeof code === 'string' && typeof message === 'string' ? new ApiError(code, message, detail) : undefined;
}

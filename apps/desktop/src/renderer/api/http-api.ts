// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf, RequestOf, Streaming, Unary } from '@keibidrop/daemon/local';
import {
  type Api,
  ApiError,
  type CallOptions,
  type GatheredItem,
  type Taken,
  type TakeOptions,
} from '../../shared/api.ts';
import { entriesOf, itemsOf } from './gather.ts';
import { linesOf } from './lines.ts';
import type { PageKey } from './page-key.ts';
import { upload } from './upload.ts';

/** Access over the daemon's HTTP port: `POST /api/NAME`, JSON both ways, one line per reply of a stream. */
export class HttpApi implements Api {
  readonly shell = undefined;
  readonly #origin: string;
  readonly #key: PageKey;

  constructor(origin: string, key: PageKey) {
    this.#origin = origin;
    this.#key = key;
  }

  async call<M extends Unary>(method: M, request: Partial<RequestOf<M>>, { signal }: CallOptions = {}) {
    const response = await this.#post(method, request, signal);
    return (await response.json()) as ReplyOf<M>;
  }

  async *stream<M extends Streaming>(
    method: M,
    request: Partial<RequestOf<M>>,
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<ReplyOf<M>> {
    const response = await this.#post(method, request, signal);
    if (response.body === null) return;
    try {
      for await (const line of linesOf(response.body)) {
        const reply = JSON.parse(line) as ReplyOf<M> | { error: ErrorReply };
        if (typeof reply === 'object' && reply !== null && 'error' in reply && isErrorReply(reply.error)) {
          throw errorOf(reply.error);
        }
        yield reply as ReplyOf<M>;
      }
    } finally {
      // The daemon may have ended.
      this.#key.distrust();
    }
  }

  async gatherDrop(data: DataTransfer): Promise<GatheredItem[]> {
    return itemsOf(await entriesOf(data));
  }

  async gatherFiles(files: readonly File[]): Promise<GatheredItem[]> {
    return itemsOf(files.map((file) => ({ path: file.webkitRelativePath || file.name, file })));
  }

  async take(items: readonly GatheredItem[], options: TakeOptions): Promise<Taken> {
    return upload(items, { url: `${this.#origin}/drop`, authorization: await this.#key.authorization() }, options);
  }

  async #post(method: string, request: unknown, signal: AbortSignal | undefined): Promise<Response> {
    const name = method.charAt(0).toUpperCase() + method.slice(1);
    const authorization = await this.#key.authorization();
    let response: Response;
    try {
      response = await fetch(`${this.#origin}/api/${name}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(request),
        ...(signal && { signal }),
      });
    } catch (cause) {
      if (signal?.aborted) throw new ApiError('CANCELLED', 'Cancelled.');
      this.#key.distrust();
      throw new ApiError('UNREACHABLE', String(cause));
    }
    if (response.ok) return response;
    const reply = (await response.json().catch(() => ({}))) as { error?: unknown };
    if (isErrorReply(reply.error)) throw errorOf(reply.error);
    throw new ApiError('INTERNAL', `${response.status} ${response.statusText}`);
  }
}

export interface ErrorReply {
  code: string;
  message: string;
  detail?: Record<string, unknown>;
}

export function isErrorReply(value: unknown): value is ErrorReply {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value;
}

export function errorOf({ code, message, detail }: ErrorReply): ApiError {
  return new ApiError(code, message, detail);
}

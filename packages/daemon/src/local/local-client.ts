// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { type ClientReadableStream, credentials, type ServiceError } from '@grpc/grpc-js';
import { local } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import { openGrpcChannel } from '@keibidrop/session';
import { connectToDaemon, type DaemonPlace } from '../daemon-socket.ts';
import {
  LOCAL_API,
  type Method,
  type ReplyOf,
  type RequestOf,
  requestOf,
  type Streaming,
  type Unary,
} from './local-calls.ts';
import { errorOfStatus } from './local-error.ts';

type Reply<M extends Method> = (error: ServiceError | null, reply: ReplyOf<M>) => void;
type AnyUnary = (request: unknown, reply: Reply<Unary>) => { cancel(): void };
type AnyStreaming = (request: unknown) => ClientReadableStream<unknown>;

/** A program's connection to the daemon of its user. */
export class LocalClient {
  readonly #client: local.LocalClient;

  private constructor(socket: Socket) {
    const channelOverride = openGrpcChannel(socket);
    this.#client = new local.LocalClient('daemon', credentials.createInsecure(), { channelOverride });
  }

  /**
   * Connects to the running daemon.
   *
   * @param options.anyVersion  also accept a daemon that may not understand most calls
   * @throws DAEMON_UNREACHABLE if none runs, DAEMON_INCOMPATIBLE if it has another version; CONFIG_INVALID
   */
  static async connect(
    place: Pick<DaemonPlace, 'directory' | 'socket'>,
    { signal, anyVersion = false }: { signal: AbortSignal; anyVersion?: boolean },
  ): Promise<LocalClient> {
    signal.throwIfAborted();
    const client = new LocalClient(await connectToDaemon(place));
    if (anyVersion) return client;
    try {
      const { api } = await client.call('hello', { api: LOCAL_API }, { signal });
      if (api !== LOCAL_API) throw new KeibiError('DAEMON_INCOMPATIBLE');
      return client;
    } catch (reason) {
      client.close();
      throw reason;
    }
  }

  /**
   * Makes one call with one reply. Missing fields of the request get their defaults.
   *
   * @throws the daemon's error; DAEMON_LOST if it ends; `signal.reason`
   */
  call<M extends Unary>(
    method: M,
    request: Partial<RequestOf<M>>,
    { signal }: { signal: AbortSignal },
  ): Promise<ReplyOf<M>> {
    signal.throwIfAborted();
    return new Promise<ReplyOf<M>>((resolve, reject) => {
      const start = (this.#client[method] as unknown as AnyUnary).bind(this.#client);
      const running = start(requestOf(method, request), (error, reply) => {
        signal.removeEventListener('abort', onAbort);
        if (error === null) resolve(reply as ReplyOf<M>);
        else reject(signal.aborted ? signal.reason : errorOfStatus(error));
      });
      const onAbort = () => running.cancel();
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Makes one call with any number of replies. Throws as `call`. */
  async *stream<M extends Streaming>(
    method: M,
    request: Partial<RequestOf<M>>,
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<ReplyOf<M>> {
    signal.throwIfAborted();
    const start = (this.#client[method] as unknown as AnyStreaming).bind(this.#client);
    const replies = start(requestOf(method, request));
    const onAbort = () => replies.cancel();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for await (const reply of replies) yield reply as ReplyOf<M>;
    } catch (reason) {
      throw signal.aborted ? signal.reason : errorOfStatus(reason);
    } finally {
      signal.removeEventListener('abort', onAbort);
      replies.cancel();
    }
  }

  /** Ends the connection and its calls. Idempotent. */
  close(): void {
    this.#client.close();
  }
}

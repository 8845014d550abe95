// SPDX-License-Identifier: MPL-2.0
import { once, setMaxListeners } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import {
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { local } from '@keibidrop/proto';
import { KeibiError, MAX_TEXT_BYTES } from '@keibidrop/protocol';
import { http2StreamOf } from '@keibidrop/session';
import { isStreaming, type LocalCalls, type Method } from './local-calls.ts';
import { statusOf } from './local-error.ts';

/** Room for a text with its fields, or for many paths. */
const MAX_MESSAGE_BYTES = 4 * MAX_TEXT_BYTES;
/** Limit of connected programs of one user; one more is refused. */
const MAX_CLIENTS = 1024;
/** How long an ending daemon waits until its last replies are taken. */
const LAST_WORDS_MS = 1000;
/** Time for clients to hang up: a connection closed right after a reply may lose the reply. */
const HANG_UP_MS = 300;

/** The gRPC server: serves Local over sockets that the caller accepts. */
export class LocalServer {
  readonly #server: Server;
  readonly #attach: (socket: Socket) => void;
  readonly #clients = new Set<Socket>();
  /** Unfinished calls. */
  readonly #calls = new Set<ServerHttp2Stream>();

  constructor(calls: LocalCalls) {
    this.#server = new Server({
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': -1,
      'grpc.enable_channelz': 0,
      interceptors: [(_method, call) => this.#track(call)],
    });
    const methods = Object.keys(local.LocalService) as Method[];
    const implementation: UntypedServiceImplementation = {};
    for (const method of methods) {
      implementation[method] = isStreaming(method) ? streaming(calls, method) : unary(calls, method);
    }
    this.#server.addService(local.LocalService, implementation);
    const injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    this.#attach = (socket) => injector.injectConnection(socket);
  }

  /** The number of connected programs. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Serves a program; the socket is owned from now on. */
  attach(socket: Socket): void {
    socket.on('error', () => {});
    if (this.#clients.size >= MAX_CLIENTS) {
      socket.destroy();
      return;
    }
    this.#clients.add(socket);
    socket.once('close', () => this.#clients.delete(socket));
    this.#attach(socket);
  }

  /** Ends every connection, after its replies are sent or a timeout. */
  async close(): Promise<void> {
    const over = AbortSignal.timeout(LAST_WORDS_MS);
    await Promise.all([...this.#calls].map((call) => once(call, 'close', { signal: over }))).catch(() => {});
    const patience = AbortSignal.timeout(HANG_UP_MS);
    setMaxListeners(0, patience);
    await Promise.allSettled([...this.#clients].map((socket) => once(socket, 'close', { signal: patience })));
    this.#server.forceShutdown();
    for (const socket of this.#clients) socket.destroySoon();
  }

  /** Without the stream, the last replies may get lost. */
  #track(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    const stream = http2StreamOf(call);
    if (stream !== undefined) {
      this.#calls.add(stream);
      stream.once('close', () => this.#calls.delete(stream));
    }
    return new ServerInterceptingCall(call);
  }
}

type AnyCall = (request: never, caller: { signal: AbortSignal }) => unknown;

function unary(calls: LocalCalls, method: Method): UntypedHandleCall {
  const handler = calls[method] as AnyCall;
  const answer = (call: ServerUnaryCall<never, unknown>, reply: sendUnaryData<unknown>): void => {
    const gone = new AbortController();
    call.once('cancelled', () => gone.abort(new KeibiError('CANCELLED')));
    Promise.resolve()
      .then(() => handler(call.request, { signal: gone.signal }))
      .then(
        (value) => reply(null, value),
        (reason) => reply(statusOf(reason)),
      );
  };
  return answer as UntypedHandleCall;
}

function streaming(calls: LocalCalls, method: Method): UntypedHandleCall {
  const handler = calls[method] as AnyCall;
  const answer = (call: ServerWritableStream<never, unknown>): void => {
    const gone = new AbortController();
    const leave = () => gone.abort(new KeibiError('CANCELLED'));
    for (const end of ['cancelled', 'close', 'error'] as const) call.once(end, leave);
    void (async () => {
      try {
        for await (const value of handler(call.request, { signal: gone.signal }) as AsyncIterable<unknown>) {
          await written(call, value);
        }
        call.end();
      } catch (reason) {
        if (!gone.signal.aborted) call.emit('error', statusOf(reason));
      }
    })();
  };
  return answer as unknown as UntypedHandleCall;
}

/** Resolves when the client can take more, or has left. */
function written(call: ServerWritableStream<never, unknown>, value: unknown): Promise<void> {
  return new Promise((resolve) => {
    if (call.cancelled || call.destroyed || call.write(value)) {
      resolve();
      return;
    }
    const go = () => {
      for (const event of ['drain', 'cancelled', 'close'] as const) call.off(event, go);
      resolve();
    };
    for (const event of ['drain', 'cancelled', 'close'] as const) call.once(event, go);
  });
}

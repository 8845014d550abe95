// SPDX-License-Identifier: MPL-2.0
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Duplex } from 'node:stream';
import {
  type ChannelInterface,
  connectivityState,
  type Deadline,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { DuplexCall, type GrpcCall } from './duplex-call.ts';
import { http2StreamOf } from './grpc-internals.ts';

/** Longest gRPC message in either direction: a text of MAX_TEXT_BYTES plus the fields around it. */
export const MAX_MESSAGE_BYTES = 1024 * 1024 + 4096;

type ChannelzRef = ReturnType<ChannelInterface['getChannelzRef']>;

/**
 * HTTP/2 flow control window for streams and connection. It bounds the data in flight on a long link (8 MiB at 180 ms
 * is 370 Mbit/s of manifest).
 */
const WINDOW_BYTES = 8 * 1024 * 1024;

/** Limit of a peer's concurrent calls. */
const MAX_CONCURRENT_CALLS = 64;

/**
 * Opens a grpc-js channel over an existing connection; pass it to a generated client as `channelOverride`.
 *
 * grpc-js 1.14.7 dials TCP before it asks the credentials for a connection (`Http2SubchannelConnector.connect`). A peer
 * that was dialled cannot do that, so the channel is ours: no names, no proxies, no retries, no keepalive. It also
 * answers the first call of a process 15 ms sooner.
 *
 * @param connection  owned from now on
 */
export function openGrpcChannel(connection: Duplex): ChannelInterface {
  return new DuplexGrpcChannel(connection);
}

/** Like `openGrpcChannel`, with pings. A connection that stays silent ends within twice `pingMs`. */
export function openPingedGrpcChannel(connection: Duplex, pingMs: number): ChannelInterface {
  return new DuplexGrpcChannel(connection, pingMs);
}

class DuplexGrpcChannel implements ChannelInterface {
  readonly #session: ClientHttp2Session;

  constructor(duplex: Duplex, pingMs?: number) {
    this.#session = connect('http://peer', {
      createConnection: () => duplex,
      settings: { initialWindowSize: WINDOW_BYTES, enablePush: false },
    });
    // Each call reports its own failure, and the owner of the duplex handles the connection.
    this.#session.on('error', () => {});
    this.#session.once('connect', () => {
      // Node emits 'connect' even for a session that was destroyed before.
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(WINDOW_BYTES);
    });
    if (pingMs !== undefined) this.#keepPinging(duplex, pingMs);
  }

  /** RFC 9113 6.7 */
  #keepPinging(connection: Duplex, pingMs: number): void {
    let answered = true;
    const timer = setInterval(() => {
      if (this.#session.destroyed) return;
      if (!answered) {
        connection.destroy();
        return;
      }
      answered = false;
      this.#session.ping(() => {
        answered = true;
      });
    }, pingMs).unref();
    this.#session.once('close', () => clearInterval(timer));
  }

  createCall(path: string, deadline: Deadline): GrpcCall {
    return new DuplexCall({ session: this.#session, path, deadline, maxMessageBytes: MAX_MESSAGE_BYTES });
  }

  /** Ends the connection. Running calls end with UNAVAILABLE. */
  close(): void {
    this.#session.destroy();
  }

  getTarget(): string {
    return 'peer';
  }

  getConnectivityState(): connectivityState {
    return this.#session.destroyed ? connectivityState.SHUTDOWN : connectivityState.READY;
  }

  watchConnectivityState(_state: connectivityState, _deadline: Deadline, callback: (error?: Error) => void): void {
    process.nextTick(callback, new Error('A channel over one connection never changes its state for the better.'));
  }

  getChannelzRef(): ChannelzRef {
    return { kind: 'channel' as ChannelzRef['kind'], id: 0, name: 'peer' };
  }
}

/** One gRPC service with the handlers of its calls. */
export interface ServedService {
  definition: ServiceDefinition;
  handlers: UntypedServiceImplementation;
}

/**
 * Serves `services` to the peer at the other end of `duplex`.
 * @param duplex  owned from now on
 * @returns  a function that ends the connection and every running call
 */
export function serveDuplex(duplex: Duplex, services: readonly ServedService[]): () => void {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_concurrent_streams': MAX_CONCURRENT_CALLS,
    'grpc.enable_channelz': 0,
    interceptors: [widenWindow],
  });
  for (const { definition, handlers } of services) server.addService(definition, handlers);
  server.createConnectionInjector(ServerCredentials.createInsecure()).injectConnection(duplex);
  return () => {
    server.forceShutdown();
    // With channelz off, grpc-js 1.14.7 forgets injected connections, and forceShutdown leaves them open.
    duplex.destroy();
  };
}

/** Connections whose window is already widened. */
const widened = new WeakSet<object>();

/**
 * Widens the receive window at a connection's first call. grpc-js 1.14.7 has this option on the client only, and 64 KiB
 * per round trip is 2.9 Mbit/s at 180 ms. Without the stream, calls keep the small window.
 */
const widenWindow: ServerInterceptor = (_method, call) => {
  const session = http2StreamOf(call)?.session;
  if (session !== undefined && !session.destroyed && !widened.has(session)) {
    widened.add(session);
    session.settings({ initialWindowSize: WINDOW_BYTES });
    session.setLocalWindowSize(WINDOW_BYTES);
  }
  return new ServerInterceptingCall(call);
};

// SPDX-License-Identifier: MPL-2.0
import { duplexPair } from 'node:stream';
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { openGrpcChannel } from './grpc-duplex.ts';
import { http2StreamOf } from './grpc-internals.ts';

const bytes = (value: Buffer) => value;
const codec = {
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
};
const ECHO = { path: '/test.Echo/Echo', requestStream: false, responseStream: false, ...codec } as const;
const SERVICE: ServiceDefinition = { echo: ECHO };

it('finds the HTTP/2 stream of a call in this version of grpc-js', async () => {
  const streams: unknown[] = [];
  const server = new Server({
    interceptors: [
      (_method, call) => {
        const stream = http2StreamOf(call);
        streams.push(stream?.id, stream?.session?.type, stream?.closed);
        return new ServerInterceptingCall(call);
      },
    ],
  });
  server.addService(SERVICE, {
    echo: (call: { request: Buffer }, reply: (e: null, v: Buffer) => void) => reply(null, call.request),
  });
  const [here, there] = duplexPair();
  server.createConnectionInjector(ServerCredentials.createInsecure()).injectConnection(there);
  const client = new Client('peer', credentials.createInsecure(), { channelOverride: openGrpcChannel(here) });
  try {
    const echo = new Promise((resolve, reject) => {
      client.makeUnaryRequest(ECHO.path, bytes, bytes, Buffer.from('hello'), (error, value) =>
        error === null ? resolve(value?.toString()) : reject(error),
      );
    });
    expect(await echo).toBe('hello');
    expect(streams).toEqual([1, 0, false]);
  } finally {
    client.close();
    server.forceShutdown();
    there.destroy();
  }
});

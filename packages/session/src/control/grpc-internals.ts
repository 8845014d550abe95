// SPDX-License-Identifier: MPL-2.0
import type { ServerHttp2Stream } from 'node:http2';
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js';

/**
 * The HTTP/2 stream of a server's call: a private field of grpc-js 1.14.7, and the only one that this project reads.
 * Undefined if a later grpc-js moves it; grpc-internals.test.ts then fails.
 */
export function http2StreamOf(call: ServerInterceptingCallInterface): ServerHttp2Stream | undefined {
  return (call as { stream?: ServerHttp2Stream }).stream;
}

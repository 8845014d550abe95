// SPDX-License-Identifier: MPL-2.0
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { AnswerBatch, CallBatch, NumberedCall, ShareClient } from '@keibidrop/proto';
import { KeibiError, MAX_BATCH_CALLS, messageFor } from '@keibidrop/protocol';

/** A unary call of Share, as generated. */
export interface UnaryMethod<Request, Reply> {
  /** `/package.Service/Method` */
  path: string;
  requestSerialize(request: Request): Buffer;
  requestDeserialize(bytes: Buffer): Request;
  responseSerialize(reply: Reply): Buffer;
  responseDeserialize(bytes: Buffer): Reply;
}

/** The limit of requests, or replies, in one message: the longest one is less than half of the message limit. */
export const MOST_BATCH_BYTES = 512 * 1024;

interface Waiting {
  resolve(reply: Uint8Array): void;
  reject(reason: unknown): void;
}

/** The name of a call within a batch. */
export function methodName({ path }: { path: string }): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * Makes a session's calls through Share's Calls (PROTOCOL 11): requests of one turn of the event loop share one
 * message. An HTTP/2 stream with headers for each call took most of the time of a small one.
 */
export class BatchedCalls {
  readonly #client: ShareClient;
  readonly #waiting = new Map<number, Waiting>();
  #stream: ClientDuplexStream<CallBatch, AnswerBatch> | undefined;
  #unsent: NumberedCall[] = [];
  #givenUp = false;
  #sending = false;
  #last = 0;

  constructor(client: ShareClient) {
    this.#client = client;
  }

  /** Throws as `unary` does. */
  async call<Request, Reply>(
    method: UnaryMethod<Request, Reply>,
    request: Request,
    { signal }: { signal: AbortSignal },
  ): Promise<Reply> {
    signal.throwIfAborted();
    const number = this.#number();
    const onAbort = () => this.#giveUp(number, signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const reply = await new Promise<Uint8Array>((resolve, reject) => {
        this.#waiting.set(number, { resolve, reject });
        this.#unsent.push({ number, method: methodName(method), request: method.requestSerialize(request) });
        this.#sendSoon();
      });
      return method.responseDeserialize(Buffer.from(reply.buffer, reply.byteOffset, reply.length));
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#waiting.delete(number);
    }
  }

  /** A number that no pending call has. */
  #number(): number {
    do this.#last = (this.#last + 1) >>> 0;
    while (this.#waiting.has(this.#last));
    return this.#last;
  }

  /** Rejects a call, and lets the peer know that its answer was not heard. */
  #giveUp(number: number, reason: unknown): void {
    this.#waiting.get(number)?.reject(reason);
    this.#givenUp = true;
    this.#sendSoon();
  }

  #sendSoon(): void {
    if (this.#sending) return;
    this.#sending = true;
    process.nextTick(() => this.#send());
  }

  #send(): void {
    const calls = this.#unsent;
    const givenUp = this.#givenUp;
    this.#unsent = [];
    this.#sending = this.#givenUp = false;
    this.#stream ??= this.#open();
    if (givenUp) this.#stream.write({ calls: [], givenUp });
    for (const batch of batchesOf(calls, ({ request }) => request.length)) {
      this.#stream.write({ calls: batch, givenUp: false });
    }
  }

  #open(): ClientDuplexStream<CallBatch, AnswerBatch> {
    const stream = this.#client.calls();
    stream.on('data', ({ answers }: AnswerBatch) => {
      // An unknown number: the answer came too late.
      for (const { number, failure, reply } of answers) {
        const waiting = this.#waiting.get(number);
        if (failure === undefined) waiting?.resolve(reply);
        else waiting?.reject(Object.assign(new Error(failure), { details: failure }));
      }
    });
    const end = (reason: unknown) => {
      if (this.#stream !== stream) return;
      this.#stream = undefined;
      for (const { reject } of this.#waiting.values()) reject(reason);
    };
    stream.once('error', end);
    stream.once('end', () => end(endedEarly()));
    return stream;
  }
}

/** Splits into as few batches as fit a message, in order. */
export function* batchesOf<One>(all: readonly One[], bytesOf: (one: One) => number): Generator<One[]> {
  let batch: One[] = [];
  let bytes = 0;
  for (const one of all) {
    if (batch.length === MAX_BATCH_CALLS || (batch.length > 0 && bytes + bytesOf(one) > MOST_BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(one);
    bytes += bytesOf(one);
  }
  if (batch.length > 0) yield batch;
}

function endedEarly(): KeibiError {
  const text = messageFor('HANDSHAKE_MALFORMED', 'The share has ended its answers before the session');
  return new KeibiError('HANDSHAKE_MALFORMED', text);
}

// SPDX-License-Identifier: MPL-2.0
import type { handleUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { KeibiError, messageFor } from '@keibidrop/protocol';
import { refusalOf } from '@keibidrop/session';
import { methodName, type UnaryMethod } from './batched-calls.ts';

/** A call that may be made alone or in a batch. */
export interface CountedCall<Request, Reply> {
  unary: handleUnaryCall<Request, Reply>;
  batched: BatchedCall;
}

/** The same call with its request and reply encoded. */
export interface BatchedCall {
  name: string;
  answer(request: Buffer): Promise<Buffer>;
}

/** Limits the concurrent calls of one kind: PEER_BUSY beyond. */
export class CountedCalls {
  readonly #most: number;
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  serve<Request, Reply>(
    method: UnaryMethod<Request, Reply>,
    work: (request: Request) => Promise<Reply>,
  ): CountedCall<Request, Reply> {
    return {
      unary: ({ request }, reply) => void answer(reply, () => this.run(() => work(request))),
      batched: {
        name: methodName(method),
        answer: async (bytes) => {
          const request = parse(() => method.requestDeserialize(bytes));
          return method.responseSerialize(await this.run(() => work(request)));
        },
      },
    };
  }

  /** @throws PEER_BUSY */
  async run<Reply>(work: () => Promise<Reply>): Promise<Reply> {
    if (this.#running === this.#most) throw new KeibiError('PEER_BUSY');
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
    }
  }
}

/** Answers a call that is made alone. */
export async function answer<Reply>(reply: sendUnaryData<Reply>, work: () => Promise<Reply>): Promise<void> {
  try {
    reply(null, await work());
  } catch (reason) {
    reply(refusalOf(KeibiError.from(reason, 'INTERNAL')));
  }
}

function parse<Request>(decode: () => Request): Request {
  try {
    return decode();
  } catch (cause) {
    const text = messageFor('HANDSHAKE_MALFORMED', 'A guest made a call that is none');
    throw new KeibiError('HANDSHAKE_MALFORMED', text, { cause });
  }
}

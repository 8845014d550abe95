// SPDX-License-Identifier: MPL-2.0
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { AnswerBatch, CallBatch, NumberedAnswer, NumberedCall } from '@keibidrop/proto';
import { failureDetails, KeibiError, MAX_BATCH_CALLS, messageFor } from '@keibidrop/protocol';
import { batchesOf } from '../batched-calls.ts';
import type { BatchedCall } from '../counted-calls.ts';

/**
 * Answers a guest's batched Calls, each as soon as it is done; answers ready within one turn of the event loop share
 * one message. While the guest takes no answers, no further calls are read.
 *
 * @param options.onGivenUp  the guest has not heard the last answers, or will not hear them
 * @throws HANDSHAKE_MALFORMED for an invalid batch
 * @throws HANDSHAKE_MALFORMED for anything but a batch
 */
export async function answerBatches(
  stream: ServerDuplexStream<CallBatch, AnswerBatch>,
  served: readonly BatchedCall[],
  { signal, onGivenUp }: { signal: AbortSignal; onGivenUp: () => void },
): Promise<void> {
  const byName = new Map(served.map((one) => [one.name, one]));
  const running = new Set<Promise<void>>();
  let unsent: NumberedAnswer[] = [];
  const send = () => {
    const answers = unsent;
    unsent = [];
    if (signal.aborted) return;
    for (const batch of batchesOf(answers, ({ reply }) => reply.length)) stream.write({ answers: batch });
    if (stream.writableNeedDrain && !stream.isPaused()) stream.pause().once('drain', () => stream.resume());
  };
  const answer = async (called: BatchedCall, call: NumberedCall) => {
    const answered = await answerOf(called, call);
    if (unsent.length === 0) process.nextTick(send);
    unsent.push(answered);
  };
  const take = ({ calls, givenUp }: CallBatch) => {
    if (givenUp) onGivenUp();
    if (calls.length > MAX_BATCH_CALLS) throw malformed();
    for (const call of calls) {
      const called = byName.get(call.method);
      if (called === undefined) throw malformed();
      const answering: Promise<void> = answer(called, call).finally(() => running.delete(answering));
      running.add(answering);
    }
  };
  await takeAll(stream, take, signal);
  await Promise.all(running);
  // After the last answer is sent.
  if (!signal.aborted) process.nextTick(() => stream.end());
}

/**
 * Does not use the stream's iterator, which destroys the stream after its last message, before the answers are sent.
 */
async function takeAll<Message>(
  stream: ServerDuplexStream<Message, unknown>,
  take: (message: Message) => void,
  signal: AbortSignal,
): Promise<void> {
  let onAbort = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      onAbort = resolve;
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) resolve();
      stream.once('end', resolve);
      stream.on('data', (message: Message) => {
        try {
          take(message);
        } catch (reason) {
          reject(reason);
        }
      });
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function answerOf(called: BatchedCall, { number, request }: NumberedCall): Promise<NumberedAnswer> {
  try {
    const reply = await called.answer(Buffer.from(request.buffer, request.byteOffset, request.length));
    return { number, failure: undefined, reply };
  } catch (reason) {
    return { number, failure: failureDetails(KeibiError.from(reason, 'INTERNAL')), reply: new Uint8Array() };
  }
}

function malformed(): KeibiError {
  return new KeibiError('HANDSHAKE_MALFORMED', messageFor('HANDSHAKE_MALFORMED', 'A guest made calls that are none'));
}

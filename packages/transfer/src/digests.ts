// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { ChunkDigests, DigestsRequest, PeerClient } from '@keibidrop/proto';
import { type ErrorCode, KeibiError, peerCodeOf } from '@keibidrop/protocol';
import { codeOf, outOfTurn } from './outcome.ts';
import { failCall, remoteError } from './remote-error.ts';

const DIGEST_BYTES = 32;
const CHUNKS_PER_MESSAGE = 4096;
const MAX_ENTRIES_PER_CALL = 1024;

/** Answers Peer.Digests with each file's chunk digests, in the requested order. */
export async function serveDigests(
  call: ServerWritableStream<DigestsRequest, ChunkDigests>,
  digest: (entry: number) => Promise<Uint8Array>,
): Promise<void> {
  try {
    for (const entry of call.request.entries.slice(0, MAX_ENTRIES_PER_CALL)) {
      if (call.cancelled) return;
      for (const message of await digestMessages(entry, digest)) {
        if (!call.write(message)) await once(call, 'drain');
      }
    }
    call.end();
  } catch (reason) {
    failCall(call, KeibiError.from(reason, 'SESSION_LOST').code);
  }
}

async function digestMessages(entry: number, digest: (entry: number) => Promise<Uint8Array>): Promise<ChunkDigests[]> {
  let digests: Uint8Array;
  try {
    digests = await digest(entry);
  } catch (reason) {
    const { code } = reason as { code?: string };
    return [{ entry, firstChunk: 0, sha256: new Uint8Array(), last: true, code: codeOf(code ?? '') }];
  }
  const messages: ChunkDigests[] = [];
  const step = CHUNKS_PER_MESSAGE * DIGEST_BYTES;
  for (let at = 0; at === 0 || at < digests.length; at += step) {
    const sha256 = digests.subarray(at, at + step);
    messages.push({ entry, firstChunk: at / DIGEST_BYTES, sha256, last: at + step >= digests.length, code: '' });
  }
  return messages;
}

/** Result of comparing one entry; `code` is absent if the contents are equal. */
export interface Verdict {
  entry: number;
  code?: ErrorCode;
}

/**
 * Compares files with the sender's, chunk by chunk.
 *
 * @param digest  reads the chunk digests of a file on this side's disk
 */
export async function* compareDigests(
  client: PeerClient,
  entries: readonly number[],
  digest: (entry: number) => Promise<Uint8Array>,
  { signal }: { signal: AbortSignal },
): AsyncGenerator<Verdict> {
  for (let at = 0; at < entries.length; at += MAX_ENTRIES_PER_CALL) {
    signal.throwIfAborted();
    const asked = entries.slice(at, at + MAX_ENTRIES_PER_CALL);
    const call = client.digests({ entries: asked });
    try {
      yield* compareAnswers(call as AsyncIterable<ChunkDigests>, asked, digest);
    } catch (reason) {
      signal.throwIfAborted();
      throw remoteError(reason);
    } finally {
      call.cancel();
    }
  }
}

/** @throws HANDSHAKE_MALFORMED unless every requested entry is answered in full and in order */
async function* compareAnswers(
  answers: AsyncIterable<ChunkDigests>,
  asked: readonly number[],
  digest: (entry: number) => Promise<Uint8Array>,
): AsyncGenerator<Verdict> {
  let answered = 0;
  let own: Uint8Array = new Uint8Array();
  let from = 0;
  let equal = true;
  for await (const { entry, firstChunk, sha256, last, code } of answers) {
    if (entry !== asked[answered] || firstChunk * DIGEST_BYTES !== from) throw outOfTurn('digests');
    if (from === 0) {
      own = code === '' ? await digest(entry) : new Uint8Array();
      equal = true;
    }
    equal &&= Buffer.compare(own.subarray(from, from + sha256.length), sha256) === 0;
    from += sha256.length;
    if (!last && sha256.length === 0) throw outOfTurn('digests');
    if (!last) continue;
    equal &&= own.length === from;
    answered++;
    from = 0;
    if (code !== '') yield { entry, code: peerCodeOf(code) };
    else yield equal ? { entry } : { entry, code: 'TRANSFER_DIGEST_MISMATCH' };
  }
  if (answered < asked.length) throw outOfTurn('digests');
}

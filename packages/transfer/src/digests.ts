// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { ChunkDigests, DigestsRequest, PeerClient } from '@keibidrop/proto';
import { type ErrorCode, KeibiError } from '@keibidrop/protocol';
import { codeOf } from './outcome.ts';
import { remoteError } from './remote-error.ts';

const DIGEST_BYTES = 32;
const CHUNKS_PER_MESSAGE = 4096;
const MAX_ENTRIES_PER_CALL = 1024;

/** Answers Peer.Digests: each file's chunk digests, in the order asked. */
export async function serveDigests(
  call: ServerWritableStream<DigestsRequest, ChunkDigests>,
  digest: (entry: number) => Promise<Uint8Array>,
): Promise<void> {
  try {
    for (const entry of call.request.entries.slice(0, MAX_ENTRIES_PER_CALL)) {
      for (const message of await digestMessages(entry, digest)) {
        if (!call.write(message)) await once(call, 'drain');
      }
    }
    call.end();
  } catch (reason) {
    call.destroy(KeibiError.from(reason, 'SESSION_LOST'));
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

/** What a comparison found: equal, or why not. */
export interface Verdict {
  entry: number;
  code?: ErrorCode;
}

/**
 * Compares files with the sender's, chunk by chunk.
 *
 * @param digest  of the file as it is on this side's disk
 */
export async function* compareDigests(
  client: PeerClient,
  entries: readonly number[],
  digest: (entry: number) => Promise<Uint8Array>,
  { signal }: { signal: AbortSignal },
): AsyncGenerator<Verdict> {
  for (let at = 0; at < entries.length; at += MAX_ENTRIES_PER_CALL) {
    signal.throwIfAborted();
    const call = client.digests({ entries: entries.slice(at, at + MAX_ENTRIES_PER_CALL) });
    try {
      let own: Uint8Array = new Uint8Array();
      let equal = true;
      for await (const message of call as AsyncIterable<ChunkDigests>) {
        if (message.firstChunk === 0) {
          own = message.code === '' ? await digest(message.entry) : new Uint8Array();
          equal = true;
        }
        const from = message.firstChunk * DIGEST_BYTES;
        equal &&= Buffer.compare(own.subarray(from, from + message.sha256.length), message.sha256) === 0;
        if (!message.last) continue;
        equal &&= own.length === from + message.sha256.length;
        if (message.code !== '') yield { entry: message.entry, code: codeOf(message.code) };
        else yield equal ? { entry: message.entry } : { entry: message.entry, code: 'TRANSFER_DIGEST_MISMATCH' };
      }
    } catch (reason) {
      signal.throwIfAborted();
      throw remoteError(reason);
    } finally {
      call.cancel();
    }
  }
}

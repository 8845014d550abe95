// SPDX-License-Identifier: MPL-2.0
import type { IncomingMessage } from 'node:http';
import { KeibiError } from '@keibidrop/protocol';
import type { Drops } from './drops.ts';

/** An upload that sends nothing for this time is aborted. */
const SILENT_MS = 60_000;
const ID = /^[0-9a-f]{32}$/;
const MAX_BODY_BYTES = 1024;

/**
 * Serves drops: files from a browser, which have no path that the daemon could read.
 *
 * POST /drop {bytes?} -> {drop}: begins one
 * PUT /drop/ID/PATH adds a file from the body; X-Modified: its mtime, in milliseconds since 1970
 * PUT /drop/ID/PATH/ adds a folder
 * DELETE /drop/ID removes it
 *
 * Each name of PATH is percent-encoded by itself. Send takes the drop over by its ID.
 */
export async function answerDrop(drops: Drops, request: IncomingMessage): Promise<object> {
  const [, , id, ...names] = (request.url ?? '').split('/');
  const path = names.map(decoded);
  if (id === undefined && request.method === 'POST') return { drop: await drops.open(await bytesOf(request)) };
  if (id === undefined || !ID.test(id)) throw new KeibiError('DROP_UNKNOWN');
  if (request.method === 'DELETE' && path.length === 0) await drops.remove(id);
  else if (request.method === 'PUT' && path.at(-1) === '') await drops.putFolder(id, path.slice(0, -1));
  else if (request.method === 'PUT') await drops.put(id, path, uploadOf(request));
  else throw new KeibiError('USAGE', 'Drops are created with POST, filled with PUT and removed with DELETE.');
  return {};
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch (cause) {
    throw new KeibiError('TRANSFER_PATH_REFUSED', undefined, { cause });
  }
}

function uploadOf(request: IncomingMessage) {
  const { 'content-length': length, 'x-modified': modified } = request.headers;
  if (length === undefined) throw new KeibiError('USAGE', 'An upload says how long it is: Content-Length.');
  const time = modified === undefined ? undefined : timeOf(String(modified));
  return { bytes: Number(length), modified: time, body: (signal: AbortSignal) => heard(request, signal) };
}

/** @throws USAGE for a time that no file system stores */
function timeOf(text: string): number {
  const time = Number(text);
  if (text === '' || Number.isNaN(new Date(time).getTime())) throw new KeibiError('USAGE', 'X-Modified is not a time.');
  return time;
}

/** Yields the body as long as data arrives. */
async function* heard(request: IncomingMessage, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const end = () => request.destroy();
  const timer = setTimeout(end, SILENT_MS);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  try {
    for await (const piece of unbroken(request)) {
      yield piece;
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Iterates over a body without destroying its request, which still needs a reply after an early exit. */
export function unbroken(request: IncomingMessage): AsyncIterable<Buffer> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

/** The announced size, if the body states one. */
async function bytesOf(request: IncomingMessage): Promise<number> {
  let text = '';
  for await (const piece of heard(request)) {
    text += Buffer.from(piece).toString();
    if (text.length > MAX_BODY_BYTES) throw new KeibiError('USAGE', 'That is too long.');
  }
  if (text === '') return 0;
  try {
    const { bytes = 0 } = JSON.parse(text);
    if (Number.isSafeInteger(bytes) && bytes >= 0) return bytes;
  } catch {
    // The error is thrown below.
  }
  throw new KeibiError('USAGE', 'bytes must be a number of bytes.');
}

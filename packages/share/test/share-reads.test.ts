// SPDX-License-Identifier: MPL-2.0
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { CACHE_BLOCK_BYTES } from '@keibidrop/native';
import type { CachedFile } from '@keibidrop/protocol';
import { openRelayServer } from '@keibidrop/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ShareGuest } from '../src/guest/share-guest.ts';
import type { ShareReads } from '../src/guest/share-reads.ts';
import { CuttableWay } from './cuttable-way.ts';
import { ShareRoom } from './share-room.ts';

let room: ShareRoom;
beforeEach(async () => {
  room = await ShareRoom.open();
  await mkdir(room.path('folder', 'sub'), { recursive: true });
  await mkdir(room.path('cache'));
});
afterEach(() => room.close());

/** A file of the share as a mount would name it, from its guest's data. */
async function cached(guest: ShareGuest, path: string): Promise<CachedFile> {
  const { size, mtimeNs } = await guest.stat(path, room);
  const key = createHash('sha256').update(`${path}\0${size}\0${mtimeNs}`).digest('hex').slice(0, 32);
  return { path, size, mtimeNs, directory: room.path('cache'), key };
}

const inCache = ({ key }: CachedFile) => readFile(room.path('cache', `${key}.data`));
const blocksOf = ({ size }: CachedFile) => Math.ceil(size / CACHE_BLOCK_BYTES);

/** Reads a file from beginning to end, like a mount for a sequential reader. */
async function readThrough(reads: ShareReads, file: CachedFile, step = 16): Promise<void> {
  let ahead = 0;
  for (let first = 0; first < blocksOf(file); first += step) {
    const count = Math.min(step, blocksOf(file) - first);
    ({ aheadBlocks: ahead } = await reads.want(file, { first, count, ahead }, room));
  }
}

describe('reading a share in place', () => {
  it('fetches the blocks that are wanted, and whole files by read-ahead', async () => {
    const content = randomBytes(20 * 2 ** 20 + 77);
    await writeFile(room.path('folder', 'sub', 'file'), content);
    await room.share('folder');
    const guest = await room.connect();
    const reads = guest.reads();
    expect(guest.reads()).toBe(reads);
    const file = await cached(guest, 'sub/file');
    const { aheadBlocks } = await reads.want(file, { first: 100, count: 2, ahead: 0 }, room);
    expect(aheadBlocks).toBeGreaterThanOrEqual(64);
    const part = await inCache(file);
    const from = 100 * CACHE_BLOCK_BYTES;
    expect(part.length).toBe(content.length);
    expect(
      part.subarray(from, from + 2 * CACHE_BLOCK_BYTES).equals(content.subarray(from, from + 2 * CACHE_BLOCK_BYTES)),
    ).toBe(true);
    expect(part.subarray(0, from).every((byte) => byte === 0)).toBe(true);
    await readThrough(reads, file);
    expect((await inCache(file)).equals(content)).toBe(true);
  });

  it('reports a file that has changed, is gone or never existed, and reads its current version', async () => {
    const path = room.path('folder', 'file');
    await writeFile(path, randomBytes(4 * CACHE_BLOCK_BYTES));
    await room.share('folder');
    const guest = await room.connect();
    const reads = guest.reads();
    const file = await cached(guest, 'file');
    await reads.want(file, { first: 0, count: 1, ahead: 0 }, room);
    await utimes(path, 1, 1);
    const rest = { first: 1, count: 3, ahead: 0 };
    await expect(reads.want(file, rest, room)).rejects.toMatchObject({
      code: 'TRANSFER_SOURCE_CHANGED',
      detail: { remote: true },
    });
    const again = await cached(guest, 'file');
    expect(again.key).not.toBe(file.key);
    await reads.want(again, rest, room);
    expect(
      (await inCache(again)).subarray(CACHE_BLOCK_BYTES).equals((await readFile(path)).subarray(CACHE_BLOCK_BYTES)),
    ).toBe(true);
    reads.release(again);
    await rename(path, room.path('folder', 'moved'));
    await expect(reads.want({ ...again, key: 'other' }, rest, room)).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND' });
    await rename(room.path('folder', 'moved'), path);
    await reads.want({ ...again, key: 'other' }, rest, room);
  });

  it('reads nothing outside the shared files', async () => {
    await writeFile(room.path('secret'), 'secret');
    await symlink(room.path('secret'), room.path('folder', 'link'));
    await room.share('folder');
    const guest = await room.connect();
    const reads = guest.reads();
    const { size, mtimeNs } = await stat(room.path('secret'), { bigint: true }).then((found) => ({
      size: Number(found.size),
      mtimeNs: found.mtimeNs,
    }));
    const blocks = { first: 0, count: 1, ahead: 0 };
    for (const path of ['../secret', 'link', room.path('secret'), 'sub/../../secret']) {
      const file = { path, size, mtimeNs, directory: room.path('cache'), key: 'key' };
      await expect(reads.want(file, blocks, room)).rejects.toMatchObject({ code: 'SHARE_PATH_REFUSED' });
    }
  });

  it('waits while there is no session, and continues when there is one again', async () => {
    const content = randomBytes(64 * 2 ** 20);
    await writeFile(room.path('folder', 'file'), content);
    await room.share('folder');
    const { host, port } = await room.until('waiting');
    const way = await CuttableWay.to({ host, port });
    const states: string[] = [];
    const connect = { host: '127.0.0.1', port: way.port };
    const guest = await room.connect({ connect, patienceMs: 30_000, onEvent: ({ type }) => states.push(type) });
    const reads = guest.reads();
    const file = await cached(guest, 'file');
    await reads.want(file, { first: 0, count: 1, ahead: 0 }, room);
    const all = reads.want(file, { first: 0, count: blocksOf(file), ahead: 0 }, room);
    way.cut();
    const late = reads.want(file, { first: 900, count: 8, ahead: 0 }, room);
    const impatient = reads.want(file, { first: 1000, count: 1, ahead: 0 }, { signal: AbortSignal.timeout(50) });
    await expect(impatient).rejects.toMatchObject({ name: 'TimeoutError' });
    way.mend();
    await Promise.all([all, late]);
    expect((await inCache(file)).equals(content)).toBe(true);
    expect(states.filter((state) => state === 'connected')).toHaveLength(2);
    await guest.close();
    await way.close();
  });

  it('continues over another lane when one is cut, in the same session', async () => {
    const content = randomBytes(64 * 2 ** 20);
    await writeFile(room.path('folder', 'file'), content);
    await room.share('folder');
    const { host, port } = await room.until('waiting');
    const way = await CuttableWay.to({ host, port });
    const states: string[] = [];
    const connect = { host: '127.0.0.1', port: way.port };
    const guest = await room.connect({ connect, onEvent: ({ type }) => states.push(type) });
    const reads = guest.reads();
    const file = await cached(guest, 'file');
    await reads.want(file, { first: 0, count: 1, ahead: 0 }, room);
    const all = reads.want(file, { first: 0, count: blocksOf(file), ahead: 0 }, room);
    way.cutNewest();
    await all;
    expect((await inCache(file)).equals(content)).toBe(true);
    expect(states).toEqual(['connected']);
    await guest.close();
    await way.close();
  });

  it('ends the share with the reason when its lane is tampered with, and leaves no tampered data in the cache', async () => {
    await writeFile(room.path('folder', 'file'), randomBytes(2 ** 20));
    await room.share('folder');
    const { host, port } = await room.until('waiting');
    const way = await CuttableWay.to({ host, port });
    const guest = await room.connect({ connect: { host: '127.0.0.1', port: way.port } });
    const reads = guest.reads();
    const file = await cached(guest, 'file');
    await reads.want(file, { first: 0, count: 1, ahead: 0 }, room);
    way.spoilNewest();
    await expect(reads.want(file, { first: 1, count: 1, ahead: 0 }, room)).rejects.toMatchObject({
      code: 'FRAME_AUTH_FAILED',
    });
    await expect(guest.closed).rejects.toMatchObject({ code: 'FRAME_AUTH_FAILED' });
    expect((await inCache(file)).subarray(CACHE_BLOCK_BYTES).every((byte) => byte === 0)).toBe(true);
    await way.close();
  });

  it('uses several lanes through a relay', async () => {
    vi.stubEnv('KD_LANES', '3');
    const log = { level: 'silent' as const, write: () => {} };
    const server = await openRelayServer({ listen: { host: '127.0.0.1', port: 0 }, log, signal: room.signal });
    const rendezvous = `127.0.0.1:${server.port}`;
    const reach = { discovery: 'off' as const, directOnly: false, relayOnly: true, rendezvous };
    const content = randomBytes(8 * 2 ** 20);
    await writeFile(room.path('folder', 'file'), content);
    await room.share('folder', { reach });
    const paths: string[] = [];
    const onEvent = (event: { type: string; path?: string }) => event.path && paths.push(event.path);
    const guest = await room.connect({ reach, onEvent });
    const reads = guest.reads();
    const file = await cached(guest, 'file');
    await readThrough(reads, file);
    expect((await inCache(file)).equals(content)).toBe(true);
    expect(paths).toEqual(['relay']);
    await guest.close();
    await server.close();
  });

  it('ends with its guest, and with a cache that cannot be written', async () => {
    await writeFile(room.path('folder', 'file'), 'x');
    await room.share('folder');
    const guest = await room.connect();
    const reads = guest.reads();
    const file = await cached(guest, 'file');
    const blocks = { first: 0, count: 1, ahead: 0 };
    await expect(reads.want({ ...file, directory: room.path('nowhere') }, blocks, room)).rejects.toMatchObject({
      code: 'TRANSFER_DESTINATION_UNUSABLE',
    });
    await rm(room.path('folder', 'file'));
    await guest.close();
    await expect(reads.want(file, blocks, room)).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });
});

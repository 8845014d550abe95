// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { SourceLock, SourceLocks } from '@keibidrop/mount';
import { LockKind } from '@keibidrop/proto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unary } from '../src/guest/guest-session.ts';
import type { ShareGuest } from '../src/guest/share-guest.ts';
import { GuestLocks } from '../src/sharer/guest-locks.ts';
import { ShareFolder } from '../src/sharer/share-folder.ts';
import { CuttableWay } from './cuttable-way.ts';
import { ShareRoom } from './share-room.ts';

const run = promisify(execFile);
const { signal } = new AbortController();
const ALL = { start: 0, length: 0 };

let room: ShareRoom;
beforeEach(async () => {
  room = await ShareRoom.open();
  await mkdir(room.path('folder'));
  await writeFile(room.path('folder', 'file'), 'one');
});
afterEach(() => room.close());

function locksOf(guest: ShareGuest): SourceLocks {
  const { locks } = guest.writes() ?? {};
  if (locks === undefined) throw new Error('no locks');
  return locks;
}

function lockOf(program: number, more: Partial<SourceLock> = {}): SourceLock {
  return {
    owner: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, program),
    whole: false,
    kind: 'exclusive',
    start: 0,
    length: 1,
    ...more,
  };
}

/** Has another program lock the first byte, and returns the result. */
async function localLock(): Promise<string> {
  const line =
    "import fcntl,sys\ntry:\n fcntl.lockf(open(sys.argv[1],'r+'),fcntl.LOCK_EX|fcntl.LOCK_NB,1)\n print('ok')\nexcept OSError: print('refused')";
  return (await run('python3', ['-c', line, room.path('folder', 'file')])).stdout.trim();
}

const refused = (systemError: string) => ({
  code: 'SHARE_CALL_FAILED',
  detail: expect.objectContaining({ systemError }),
});

describe('locks of a share', () => {
  it('exclude other guests and programs there, and go with their guest', async () => {
    await room.share('folder');
    const guests = [await room.connect(), await room.connect()] as const;
    const [one, other] = [locksOf(guests[0]), locksOf(guests[1])];
    const { holder, entry } = await one.lock('file', lockOf(1), { signal });
    expect(entry).toMatchObject({ type: 'file', name: 'file', size: 3 });
    expect(await localLock()).toBe('refused');
    await expect(other.lock('file', lockOf(1), { signal })).rejects.toMatchObject(refused('EAGAIN'));
    await expect(one.lock('file', lockOf(2), { signal })).rejects.toMatchObject(refused('EAGAIN'));
    expect(await other.test('file', lockOf(1, ALL), { signal })).toEqual({ kind: 'exclusive', start: 0, length: 1 });
    await one.unlock(holder, ALL, { signal });
    expect(await other.test('file', lockOf(1, ALL), { signal })).toBeUndefined();
    await one.lock('file', lockOf(1), { signal });
    await guests[0].close();
    await expect.poll(localLock, { timeout: 60_000 }).toBe('ok');
  });

  it('outlast a session that is lost', async () => {
    await room.share('folder');
    const { host, port } = await room.until('waiting');
    const way = await CuttableWay.to({ host, port });
    const connect = { host: '127.0.0.1', port: way.port };
    const states: string[] = [];
    const guest = await room.connect({ connect, patienceMs: 60_000, onEvent: ({ type }) => states.push(type) });
    const locks = locksOf(guest);
    const lost = vi.fn();
    locks.onLost(lost);
    const { holder } = await locks.lock('file', lockOf(1), { signal });
    way.cut();
    await vi.waitUntil(() => states.includes('reconnecting'), { timeout: 60_000 });
    expect(await localLock()).toBe('refused');
    way.mend();
    // Waits for the next session.
    expect(await locks.test('file', lockOf(2, ALL), { signal })).toEqual({ kind: 'exclusive', start: 0, length: 1 });
    expect(await localLock()).toBe('refused');
    await locks.unlock(holder, ALL, { signal });
    expect(await localLock()).toBe('ok');
    expect(lost).not.toHaveBeenCalled();
    await guest.close();
    await way.close();
  });

  it('are given up when a guest does not come back, and have another number then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const host = await ShareFolder.open(room.path('folder'), { readOnly: false });
      const locks = new GuestLocks(host);
      const gone = vi.fn(() => void locks.close());
      await locks.lock('file', lockOf(1, { length: 1 }));
      locks.leave(gone);
      vi.advanceTimersByTime(29_000);
      locks.back();
      vi.advanceTimersByTime(60_000);
      expect(gone).not.toHaveBeenCalled();
      locks.leave(gone);
      vi.advanceTimersByTime(30_000);
      expect(gone).toHaveBeenCalledOnce();
      await locks.close();
      await expect(locks.lock('file', lockOf(1))).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(new GuestLocks(host).number).not.toBe(locks.number);
    } finally {
      vi.useRealTimers();
    }
  });

  it('are not there where nothing may be changed, nor at an older peer', async () => {
    await room.share('folder', { readOnly: true });
    const guest = await room.connect();
    expect(guest.info.locks).toBeUndefined();
    expect(guest.writes()).toBeUndefined();
    const { client } = await room.hostileGuest();
    const request = {
      path: 'file',
      owner: new Uint8Array(8),
      whole: false,
      kind: LockKind.SHARED,
      start: 0,
      length: 0,
    };
    await expect(unary((done) => client.lock(request, done), room)).rejects.toMatchObject({
      details: 'SHARE_CALL_FAILED:EROFS',
    });
  });

  it('of a hostile guest are checked', async () => {
    await room.share('folder');
    const { client } = await room.hostileGuest();
    const good = { path: 'file', owner: new Uint8Array(8), whole: false, kind: LockKind.SHARED, start: 0, length: 0 };
    const asked = (more: Partial<typeof good> | { kind: number }) =>
      unary((done) => client.lock({ ...good, ...more } as typeof good, done), room).then(
        () => 'granted',
        ({ details }: { details: string }) => details,
      );
    expect(await asked({ owner: new Uint8Array(9) })).toBe('SHARE_CALL_FAILED:EINVAL');
    expect(await asked({ kind: LockKind.UNSPECIFIED })).toBe('SHARE_CALL_FAILED:EINVAL');
    expect(await asked({ kind: 7 })).toBe('SHARE_CALL_FAILED:EINVAL');
    expect(await asked({ start: Number.MAX_SAFE_INTEGER })).toBe('SHARE_CALL_FAILED:EINVAL');
    expect(await asked({ start: 5, length: Number.MAX_SAFE_INTEGER })).toBe('SHARE_CALL_FAILED:EFBIG');
    expect(await asked({ path: '../file' })).toBe('SHARE_PATH_REFUSED');
    expect(await asked({ path: 'none' })).toBe('SHARE_NOT_FOUND');
    expect(await asked({})).toBe('granted');
    expect(await readFile(room.path('folder', 'file'), 'utf8')).toBe('one');
  });
});

// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, statfs, symlink, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parseCode } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PullOptions } from '../src/guest/connect-options.ts';
import type { ShareGuest } from '../src/guest/share-guest.ts';
import { shareIdentity } from '../src/share-identity.ts';
import { ChangeFeed } from '../src/sharer/change-feed.ts';
import { collect, ShareRoom } from './share-room.ts';

const run = promisify(execFile);

let room: ShareRoom;
beforeEach(async () => {
  room = await ShareRoom.open();
  await mkdir(room.path('folder', 'sub'), { recursive: true });
  await writeFile(room.path('folder', 'a.txt'), 'hello');
  await writeFile(room.path('folder', 'sub', 'b.txt'), 'there');
});
afterEach(() => room.close());

const pulling = (options: Partial<PullOptions> = {}): PullOptions => ({
  out: room.path('out'),
  collisions: 'rename',
  signal: room.signal,
  onEvent: () => {},
  ...options,
});
const received = (path: string) => readFile(room.path('out', path), 'utf8');

async function namesOf(guest: ShareGuest, path: string): Promise<string[]> {
  const pages = await collect(guest.list(path, room));
  return pages.flatMap(({ entries }) => entries.map(({ name }) => name)).sort();
}

describe('a share', () => {
  it('shows the current content to several guests', async () => {
    await room.share('folder', { readOnly: true });
    const [one, other] = await Promise.all([room.connect(), room.connect()]);
    const { id } = other.info;
    expect(one.info).toEqual({ peer: 'host', name: 'folder', readOnly: true, reads: true, writes: false, id });
    // Recognized by the next guest that connects, whatever the code.
    expect(id).toBe(Buffer.from(await shareIdentity(room.path('folder'))).toString('hex'));
    expect(await shareIdentity(room.path('folder', 'sub'))).not.toEqual(await shareIdentity(room.path('folder')));
    expect(await namesOf(one, '')).toEqual(['a.txt', 'sub']);
    await writeFile(room.path('folder', 'new'), '');
    expect(await namesOf(other, '')).toEqual(['a.txt', 'new', 'sub']);
    expect(await other.stat('sub/b.txt', room)).toMatchObject({ type: 'file', name: 'b.txt', size: 5, mode: 0o644 });
    expect(await one.stat('', room)).toMatchObject({ type: 'directory', name: 'folder' });
    const { bsize, blocks } = await statfs(room.path('folder'));
    expect(await one.space(room)).toEqual({ totalBytes: bsize * blocks, freeBytes: expect.any(Number) });
    await expect(one.stat('gone', room)).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND', detail: { remote: true } });
  });

  it('gives a file, a folder, several of them, or everything, like receive', async () => {
    await symlink('a.txt', room.path('folder', 'link'));
    await room.share('folder');
    const guest = await room.connect();
    expect(await guest.pull(['sub/b.txt'], pulling())).toMatchObject({ files: 1, bytes: 5 });
    expect(await guest.pull(['sub', 'a.txt', 'link'], pulling({ verify: true }))).toMatchObject({ files: 2 });
    expect([await received('b.txt'), await received('sub/b.txt'), await received('link')]).toEqual([
      'there',
      'there',
      'hello',
    ]);
    expect(await guest.pull([''], pulling())).toMatchObject({ files: 2 });
    expect(await received('folder/sub/b.txt')).toBe('there');
    // A second pull of unchanged files costs nothing, and another file of that name stays.
    expect(await guest.pull(['a.txt'], pulling())).toMatchObject({ files: 0, skipped: 1 });
    await writeFile(room.path('out', 'a.txt'), 'mine');
    await guest.pull(['a.txt'], pulling());
    expect([await received('a.txt'), await received('a (1).txt')]).toEqual(['mine', 'hello']);
    expect(await room.until('pulled')).toMatchObject({ pull: 1, session: 1, peer: 'guest', files: 1, failed: 0 });
  });

  it('lists 100,000 entries of one directory in pages, each once', async () => {
    const count = 100_000;
    await mkdir(room.path('folder', 'many'));
    await run('sh', ['-c', `seq ${count} | xargs touch`], { cwd: room.path('folder', 'many') });
    await room.share('folder');
    const guest = await room.connect();
    const seen = new Set<string>();
    let pages = 0;
    for await (const { entries } of guest.list('many', room)) {
      pages++;
      for (const { name } of entries) seen.add(name);
    }
    expect({ seen: seen.size, several: pages > 10 }).toEqual({ seen: count, several: true });
  });

  it('can be left in the middle of a list, any number of times', async () => {
    await room.share('folder');
    const guest = await room.connect();
    for (let i = 0; i < 20; i++) for await (const _page of guest.list('', room)) break;
    expect(await namesOf(guest, 'sub')).toEqual(['b.txt']);
  });

  it('reports its end to its guests', async () => {
    const sharing = await room.share('folder');
    const guest = await room.connect();
    await sharing.close();
    await expect(guest.closed).rejects.toMatchObject({ code: 'SESSION_CLOSED', message: /share has ended/ });
    await expect(guest.stat('', room)).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });

  it('says goodbye to a guest that leaves, and keeps nothing of it', async () => {
    await room.share('folder');
    const guest = await room.connect();
    await guest.close();
    await guest.closed;
    expect(await room.until('guestLeft')).toMatchObject({ session: 1, peer: 'guest', mayReturn: false });
  });

  it('locks new guests out after wrong guesses, and still serves those that have joined', async () => {
    const sharing = await room.share('folder');
    const guest = await room.connect();
    const guess = (code: string) => room.connect({ code: parseCode(code) });
    for (let tries = 0; tries < 3; tries++) {
      await expect(guess('7-wrong-words')).rejects.toMatchObject({ code: 'CODE_WRONG' });
    }
    const locked = { code: 'PEER_BUSY', message: expect.stringContaining('lets no new guests in') };
    await expect(guess('7-guitar-pencil')).rejects.toMatchObject(locked);
    await expect(guess('7-wrong-words')).rejects.toMatchObject(locked);
    expect(room.events).toContainEqual({
      type: 'warning',
      message: 'Wrong codes were tried, so no new guest can join for 1 min. Guests who have joined before stay.',
    });
    expect((await guest.stat('', room)).name).toBe('folder');
    expect(await Promise.race([sharing.ended, 'shared still'])).toBe('shared still');
  });

  it('admits a contact by words of its own', async () => {
    const sharing = await room.share('folder');
    const code = await sharing.invite();
    expect(code.words.length).toBe(16);
    const guest = await room.connect({ code });
    expect(await namesOf(guest, 'sub')).toEqual(['b.txt']);
  });
});

describe('changes', () => {
  /** The reports of `change`, until `path` is reported. */
  async function noticed(guest: ShareGuest, path: string, change: () => Promise<unknown>) {
    const seen = new Map<string, string>();
    for await (const notice of guest.watch(room)) {
      if (notice.changes.length === 0) await change();
      for (const { kind, path: changed } of notice.changes) seen.set(changed, kind);
      if (seen.has(path)) return seen;
    }
    throw new Error('the watch has ended');
  }

  it.each<[string, string, string, (path: (...parts: string[]) => string) => Promise<unknown>]>([
    ['a file that is created', 'new', 'created', (at) => writeFile(at('new'), 'x')],
    ['a file that is written', 'a.txt', 'changed', (at) => writeFile(at('a.txt'), 'longer')],
    ['a new name', 'c.txt', 'replaced', (at) => rename(at('a.txt'), at('c.txt'))],
    ['an old name', 'a.txt', 'removed', (at) => rename(at('a.txt'), at('c.txt'))],
    ['a removed folder', 'sub', 'removed', (at) => rm(at('sub'), { recursive: true })],
    [
      'a file that is removed and created again',
      'a.txt',
      'replaced',
      async (at) => {
        await rm(at('a.txt'));
        await writeFile(at('a.txt'), 'again');
      },
    ],
    [
      'a tree that is moved in',
      'tree',
      'replaced',
      async (at) => {
        await mkdir(room.path('elsewhere', 'deep', 'er'), { recursive: true });
        await rename(room.path('elsewhere'), at('tree'));
      },
    ],
  ])('are reported for %s', async (_what, path, kind, change) => {
    await room.share('folder');
    const guest = await room.connect();
    const seen = await noticed(guest, path, () => change((...parts) => room.path('folder', ...parts)));
    expect(seen.get(path)).toBe(kind);
  });

  it('are reported to every guest, and a slow one must look again', async () => {
    const feed = new ChangeFeed({ path: room.path('folder'), only: undefined }, () => {});
    const [slow, quick] = [feed.follow(room), feed.follow(room)];
    await Promise.all([slow.next(), quick.next()]);
    // More than is buffered for any guest.
    await run('sh', ['-c', 'seq 9000 | xargs touch; touch last'], { cwd: room.path('folder') });
    for (let seen = false; !seen; ) {
      const { value } = await quick.next();
      seen = value?.lookAgain === true || value?.changes.some(({ path }: { path: string }) => path === 'last');
    }
    expect((await slow.next()).value).toMatchObject({ lookAgain: true });
    await feed.close();
    expect(await slow.next()).toMatchObject({ done: true });
  });
});

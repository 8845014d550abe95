// SPDX-License-Identifier: MPL-2.0
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseCode } from '../../packages/protocol/src/index.ts';
import { ShareGuest } from '../../packages/share/src/index.ts';
import type { Running } from '../harness/running.ts';
import { CODE, LISTEN, lastOf, Sandbox } from '../harness/sandbox.ts';
import { digestOf, readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';

const MIB = 1 << 20;
const REACH = { discovery: 'off', directOnly: false, relayOnly: false } as const;

let room: Sandbox;
let ending: AbortController;
beforeEach(async () => {
  room = await Sandbox.open();
  ending = new AbortController();
  await mkdir(room.path('folder', 'sub'), { recursive: true });
  await writeFile(room.path('folder', 'a.txt'), 'hello');
});
afterEach(async () => {
  ending.abort();
  vi.unstubAllEnvs();
  await room.close();
});

async function share(args: string[] = []): Promise<{ host: Running; port: number }> {
  const listen = args.includes('--listen') ? [] : LISTEN;
  const host = await room.start(['share', 'folder', '--json', '--code', CODE, ...listen, ...args]);
  const { port } = await host.until('waiting');
  return { host, port: port as number };
}

/** A guest in this process. */
function connect(patienceMs = 0, onEvent: (event: { type: string }) => void = () => {}): Promise<ShareGuest> {
  vi.stubEnv('XDG_RUNTIME_DIR', room.path(`run-${process.getuid?.()}`));
  return ShareGuest.connect({
    code: parseCode(CODE),
    reach: REACH,
    label: 'guest',
    patienceMs,
    signal: ending.signal,
    onEvent,
  });
}

/** The sharer's history of pulled files. */
async function given(): Promise<object[]> {
  const history = await room.start(['history', '--json']);
  await history.ended;
  return lastOf(history)?.entries as object[];
}

const pulling = () => ({
  out: room.path('out'),
  collisions: 'rename' as const,
  signal: ending.signal,
  onEvent: () => {},
});

describe('keibidrop share', () => {
  it('serves two guests at once, reports their pulls, and ends with 0 on request', async () => {
    await writeSmallFiles(room.path('folder', 'sub'), 200);
    await writeRandom(room.path('folder', 'large'), 20 * MIB);
    const { host } = await share(['--read-only']);
    const [one, other] = await Promise.all([connect(), connect()]);
    expect(one.info).toMatchObject({ name: 'folder', readOnly: true });
    await Promise.all([one.pull(['sub'], pulling()), other.pull(['large'], pulling())]);
    expect(await readTree(room.path('out', 'sub'))).toEqual(await readTree(room.path('folder', 'sub')));
    expect(await digestOf(room.path('out', 'large'))).toBe(await digestOf(room.path('folder', 'large')));
    await host.until('pulled', ({ files }) => files === 200);
    await host.until('pulled', ({ bytes }) => bytes === 20 * MIB);
    await one.close();
    await host.until('guestLeft', ({ mayReturn }) => mayReturn === false);
    host.kill('SIGINT');
    expect(await host.ended).toBe(0);
    await expect(other.closed).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    expect(await given()).toHaveLength(2);
    expect(await given()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'send', what: 'sub', files: 200, result: 'OK' }),
        expect.objectContaining({ kind: 'send', what: 'large', files: 1, bytes: 20 * MIB, result: 'OK' }),
      ]),
    );
    const kinds = new Set(host.events({ progress: true }).map(({ event }) => event));
    expect([...kinds].sort()).toEqual(['code', 'connected', 'guestLeft', 'progress', 'pull', 'pulled', 'waiting']);
  });

  it('is found again by its guest after kill -9, and asks the guest to list again', async () => {
    const { host, port } = await share();
    const events: string[] = [];
    const guest = await connect(60_000, ({ type }) => events.push(type));
    const notices = guest.watch(ending);
    expect((await notices.next()).value).toMatchObject({ changes: [], lookAgain: false });
    const next = notices.next();
    host.kill();
    await host.ended;
    await writeFile(room.path('folder', 'meanwhile'), '');
    const again = await share(['--listen', `127.0.0.1:${port}`]);
    expect((await next).value).toMatchObject({ lookAgain: true });
    expect((await guest.stat('meanwhile', ending)).type).toBe('file');
    expect(events.filter((type) => type === 'connected').length).toBe(2);
    await guest.pull(['a.txt'], pulling());
    await again.host.until('pulled');
  });

  it('rejects a receiver of its code and says what the code is for; a send does the same for a guest', async () => {
    const { host } = await share();
    const receiver = await room.receive(['--out', 'out']);
    expect(await receiver.ended).toBe(2);
    expect(lastOf(receiver)).toMatchObject({ code: 'NOT_A_TRANSFER', message: expect.stringContaining('connect') });
    host.kill('SIGINT');
    expect(await host.ended).toBe(0);
    await room.send(['folder']);
    await expect(connect()).rejects.toMatchObject({ code: 'NOT_A_SHARE' });
  });

  it('shows people the code, the command to type, the guests and their pulls', async () => {
    const host = await room.start(['share', 'folder', '--code', CODE, ...LISTEN]);
    await host.shows(/^On the other computer: keibidrop connect 7-guitar-pencil$/m);
    await host.shows(/^Sharing "folder" at 127.0.0.1:\d+, for --connect; Ctrl-C ends it\.$/m);
    await host.shows(/^Guests can also change its contents, unless you share it with --read-only\.$/m);
    const guest = await connect();
    await host.shows(/^1 guest is here \(local, aes-256-gcm\)\.$/m);
    await guest.pull(['a.txt', 'sub'], pulling());
    await host.shows(/^1 guest downloads "a\.txt", "sub"\.$/m);
    await host.shows(/^1 guest has 1 file, 5 B in /m);
    await guest.close();
    await host.shows(/^1 guest has left\.$/m);
  });

  it('shows one file and its changes, and no other file', async () => {
    const host = await room.start(['share', 'folder/a.txt', '--incognito', '--code', CODE, ...LISTEN]);
    await host.shows(/keibidrop connect/);
    const guest = await connect();
    const { signal } = ending;
    const parts = [];
    for await (const { entries } of guest.list('', { signal })) parts.push(...entries);
    expect(parts).toMatchObject([{ type: 'file', name: 'a.txt', size: 5 }]);
    for (const beside of ['sub', 'a.txt/x']) {
      await expect(guest.stat(beside, { signal })).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND' });
    }
    const notices = guest.watch({ signal });
    await notices.next();
    await writeFile(room.path('folder', 'beside'), 'nobody hears of it');
    await writeFile(room.path('folder', 'a.txt'), 'changed');
    expect((await notices.next()).value).toMatchObject({ changes: [{ kind: 'changed', path: 'a.txt' }] });
    expect(await guest.pull([''], pulling())).toMatchObject({ files: 1, bytes: 7 });
    expect(await readFile(room.path('out', 'a.txt'), 'utf8')).toBe('changed');
    await guest.close();
    host.kill('SIGINT');
    expect(await host.ended).toBe(0);
    expect(await given()).toEqual([]);
  });

  it.each<[string, string[], number, string]>([
    ['a missing argument', [], 2, 'Name a folder to share'],
    ['a missing folder', ['gone'], 1, 'gone: The file is not there'],
    ['a device', ['/dev/null'], 1, 'neither a folder nor a file'],
  ])('refuses %s', async (_what, args, exit, message) => {
    const host = await room.start(['share', ...args, ...LISTEN]);
    expect(await host.ended).toBe(exit);
    expect(host.stderr).toContain(message);
  });
});

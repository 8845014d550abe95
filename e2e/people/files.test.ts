// SPDX-License-Identifier: MPL-2.0
import { chmod, mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from './own-daemon.ts';

interface FilesRequest {
  transfer: number;
  first?: number;
  limit?: number;
  filter?: string;
  state?: string;
}

let sandbox: Sandbox;
let sender: OwnDaemon;
let receiver: OwnDaemon;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await mkdir(sandbox.path('bin'));
  await writeFile(sandbox.path('bin', 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${sandbox.path('opened')}\n`);
  await chmod(sandbox.path('bin', 'xdg-open'), 0o755);
  sender = await OwnDaemon.start(sandbox, 'sender');
  const env = { DISPLAY: ':99', PATH: `${sandbox.path('bin')}:${process.env.PATH}` };
  receiver = await OwnDaemon.start(sandbox, 'receiver', { env });
});
afterAll(() => sandbox.close());

async function filesOf(daemon: OwnDaemon, request: FilesRequest) {
  const { files, ...reply } = await (await daemon.own()).call('files', request, { signal: daemon.signal });
  return { ...reply, files, states: files.map(({ path, state }) => `${path} ${state}`) };
}

describe('the files of a transfer', () => {
  it('are listed before it is accepted, while it runs and afterwards, on both sides', async () => {
    await mkdir(sandbox.path('tree', 'deep'), { recursive: true });
    await writeFile(sandbox.path('tree', 'deep', 'small'), 'small');
    await writeFile(sandbox.path('tree', 'large'), Buffer.alloc(24 * 2 ** 20, 1));
    await writeFile(sandbox.path('tree', 'zero'), '');
    await symlink('large', sandbox.path('tree', 'link'));
    // Up to date: same size and time.
    await mkdir(sandbox.path('out', 'tree'), { recursive: true });
    for (const folder of ['tree', 'out/tree']) {
      await writeFile(sandbox.path(folder, 'there'), 'there');
      await utimes(sandbox.path(folder, 'there'), 1e9, 1e9);
    }

    const { id: sending, code } = await sender.send({ paths: [sandbox.path('tree')] });
    expect(await filesOf(sender, { transfer: sending })).toMatchObject({ total: 0, files: [], complete: false });
    const id = await receiver.receive({
      code,
      out: sandbox.path('out'),
      reach: { limit: 12 * 2 ** 20, directOnly: false, relayOnly: false },
    });
    const { question } = await receiver.until(({ transfer, event }) => transfer === id && event === 'question');
    const offered = await filesOf(receiver, { transfer: id });
    expect(offered).toMatchObject({ total: 7, complete: true, forgotten: false });
    expect(offered.files.find(({ path }) => path === 'tree/large')).toEqual({
      index: expect.any(Number),
      path: 'tree/large',
      type: 'file',
      size: 24 * 2 ** 20,
      state: 'pending',
      bytes: 0,
    });
    expect(new Set(offered.files.map(({ state }) => state))).toEqual(new Set(['pending']));

    const client = await receiver.own();
    await client.call('answer', { question: question as number, answer: 'yes' }, { signal: receiver.signal });
    for (const [daemon, transfer] of [
      [sender, sending],
      [receiver, id],
    ] as const) {
      const running = async () => (await filesOf(daemon, { transfer, state: 'running' })).files;
      await expect
        .poll(running, { interval: 20 })
        .toEqual([expect.objectContaining({ path: 'tree/large', type: 'file' })]);
    }
    const [{ bytes } = { bytes: 0 }] = (await filesOf(receiver, { transfer: id, state: 'running' })).files;
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(24 * 2 ** 20);

    for (const [daemon, transfer] of [
      [receiver, id],
      [sender, sending],
    ] as const) {
      await daemon.state(transfer, 'done');
      const { states } = await filesOf(daemon, { transfer });
      const done = ['tree', 'tree/deep', 'tree/deep/small', 'tree/large', 'tree/link', 'tree/zero'];
      expect([...states].sort()).toEqual([...done.map((path) => `${path} done`), 'tree/there skipped'].sort());
    }
    expect(await filesOf(receiver, { transfer: id, filter: 'EE/D', first: 1 })).toMatchObject({
      total: 2,
      states: ['tree/deep/small done'],
    });
    expect(await filesOf(receiver, { transfer: id, filter: 'deep', state: 'skipped' })).toMatchObject({ total: 0 });
    await receiver.control(id, 'remove');
    await expect(filesOf(receiver, { transfer: id })).rejects.toMatchObject({ code: 'TRANSFER_UNKNOWN' });
  });

  it('list failures with their reason', async () => {
    await mkdir(sandbox.path('odd'));
    await writeFile(sandbox.path('odd', 'good'), 'good');
    await writeFile(sandbox.path('odd', 'taken'), 'a file');
    await mkdir(sandbox.path('taking', 'odd', 'taken'), { recursive: true });
    const { id: sending, code } = await sender.send({ paths: [sandbox.path('odd')] });
    await mkdir(sandbox.path('odd', 'late'));
    const id = await receiver.receive({ code, out: sandbox.path('taking'), yes: true, collisions: 'overwrite' });
    for (const [daemon, transfer] of [
      [receiver, id],
      [sender, sending],
    ] as const) {
      await daemon.state(transfer, 'failed');
      const { files } = await filesOf(daemon, { transfer, state: 'failed' });
      expect(files).toEqual([
        expect.objectContaining({ path: 'odd/taken', state: 'failed', code: 'TRANSFER_DESTINATION_EXISTS' }),
      ]);
      const { transfers } = await (await daemon.own()).call('transfers', {}, { signal: daemon.signal });
      expect(transfers.find((one) => one.id === transfer)).toMatchObject({ failed: 1, retriable: true });
    }
  });

  it.each([
    ['a limit that is too high', { limit: 1001 }],
    ['an unknown state', { state: 'odd' }],
    ['a filter that is too long', { filter: 'x'.repeat(2000) }],
  ])('are not listed for %s', async (_what, request) => {
    const { id } = await sender.send({ text: 'text' });
    await expect(filesOf(sender, { transfer: id, ...request })).rejects.toMatchObject({ code: 'USAGE' });
    await sender.control(id, 'cancel');
  });
});

describe('the peers of a transfer', () => {
  it('are listed one by one, with path, numbers and result', async () => {
    await writeFile(sandbox.path('both'), Buffer.alloc(3 * 2 ** 20));
    const { id, code } = await sender.send({ paths: [sandbox.path('both')], receivers: 2 });
    const first = await receiver.receive({ code, out: sandbox.path('first'), yes: true });
    await receiver.state(first, 'done');
    const second = await receiver.receive({ code, out: sandbox.path('second'), yes: true });
    const done = await sender.state(id, 'done');
    await receiver.state(second, 'done');
    const peer = {
      state: 'done',
      path: 'local',
      files: 1,
      bytes: 3 * 2 ** 20,
      totalBytes: 3 * 2 ** 20,
      totalsFinal: true,
    };
    expect(done.peers).toEqual([
      expect.objectContaining({ ...peer, session: 1 }),
      expect.objectContaining({ ...peer, session: 2 }),
    ]);
    expect(done).toMatchObject({
      reachability: { listen: expect.stringMatching(/^127\.0\.0\.1:\d+$/) },
      guessesLeft: 3,
    });
    expect(done.seconds).toBeGreaterThan(0);
  });

  it('are listed with the reason why no better path was taken', async () => {
    const { code } = await sender.send({ paths: [sandbox.path('both')] });
    const id = await receiver.receive({ code, out: sandbox.path('third'), yes: true, near: '127.0.0.1:1' });
    const done = await receiver.state(id, 'done');
    expect(done).toMatchObject({ path: 'local', suite: expect.stringContaining('-') });
    expect(done.tried).toEqual(expect.any(Array));
  });
});

describe('the folders of this machine', () => {
  const call = async (path: string, hidden = false) =>
    (await receiver.own()).call('listFolders', { path, hidden }, { signal: receiver.signal });

  it('are listed one by one, with symlinks to folders and the permissions there', async () => {
    await mkdir(sandbox.path('folders', '.hidden'), { recursive: true });
    await mkdir(sandbox.path('folders', 'b'));
    await writeFile(sandbox.path('folders', 'file'), '');
    await symlink('b', sandbox.path('folders', 'a'));
    await symlink('nowhere', sandbox.path('folders', 'c'));
    expect(await call(sandbox.path('folders'))).toMatchObject({
      path: sandbox.path('folders'),
      parent: sandbox.home,
      folders: ['a', 'b'],
      freeBytes: expect.any(Number),
      writable: true,
    });
    expect((await call(sandbox.path('folders'), true)).folders).toEqual(['.hidden', 'a', 'b']);
    expect((await call('/')).parent).toBeUndefined();
    expect((await call('')).path).toBe(sandbox.home);
    await expect(call('relative')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(call('/nul\0')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(call(sandbox.path('nothing'))).rejects.toMatchObject({ code: 'FOLDER_UNREADABLE' });
  });

  it('are opened by the desktop, folders only, and only if there is a desktop', async () => {
    const open = async (daemon: OwnDaemon, request: { transfer?: number; path?: string }) =>
      (await daemon.own()).call('openPlace', request, { signal: daemon.signal });
    const opened = () => readFile(sandbox.path('opened'), 'utf8');
    await open(receiver, { path: sandbox.path('folders') });
    expect(await opened()).toBe(sandbox.path('folders'));
    const { transfers } = await (await receiver.own()).call('transfers', {}, { signal: receiver.signal });
    const [{ id = 0, place = '' } = {}] = transfers.filter(({ state }) => state === 'done');
    expect(await open(receiver, { transfer: id })).toEqual({ path: place });
    expect(await opened()).toBe(place);
    await expect(open(receiver, { path: sandbox.path('both') })).rejects.toMatchObject({ code: 'FOLDER_UNREADABLE' });
    await expect(open(receiver, { path: '--help' })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(open(sender, { path: sandbox.path('folders') })).rejects.toMatchObject({
      code: 'DESKTOP_UNAVAILABLE',
    });
  });
});

// SPDX-License-Identifier: MPL-2.0
import { chmod, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exitsOf, IS_ROOT, lastOf, NOBODY, run, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';

const MIB = 1 << 20;
const SUCCESS = { sender: 0, receiver: 0 };
const FAILURE = { sender: 1, receiver: 1 };

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
  await mkdir(room.path('source'));
});
afterEach(() => room.close());

async function transferTo(out: string, options: StartOptions = {}) {
  const { sender, port } = await room.send(['source']);
  const receiver = await room.receive(['--connect', `127.0.0.1:${port}`, '--out', out], options);
  return { sender, receiver, exits: await exitsOf({ sender, receiver }) };
}

describe.skipIf(!IS_ROOT)('a full destination (this test needs root, to mount a small one)', () => {
  it('fails the file that does not fit, keeps the others, and the next run completes it', async () => {
    const out = await room.mountTmpfs('out', 8 * MIB);
    await writeRandom(room.path('source', 'large'), 20 * MIB);
    await writeSmallFiles(room.path('source', 'small'), 20);
    const { sender, receiver, exits } = await transferTo(out);
    expect(exits).toEqual(FAILURE);
    for (const side of [sender, receiver]) {
      const failed = { event: 'failed', path: 'source/large', code: 'TRANSFER_DISK_FULL', message: expect.any(String) };
      expect(side.events().filter(({ event }) => event === 'failed')).toEqual([failed]);
      expect(lastOf(side)).toMatchObject({
        code: 'TRANSFER_DISK_FULL',
        message: expect.stringContaining('source/large'),
      });
    }
    expect(await readTree(join(out, 'source', 'small'))).toEqual(await readTree(room.path('source', 'small')));
    expect(await readdir(out)).toEqual(['source']);
    expect(await readdir(join(out, 'source'))).toEqual(['small']);
    run('mount', '-o', `remount,size=${64 * MIB}`, out);
    expect((await transferTo(out)).exits).toEqual(SUCCESS);
    expect(await readTree(out)).toEqual(
      new Map([...(await readTree(room.home))].filter(([path]) => /^source(\/|$)/.test(path))),
    );
  });

  it('with many small files keeps those that fit, fails the others, and the next run completes it', async () => {
    const out = await room.mountTmpfs('out', 2 * MIB);
    for (let i = 0; i < 8; i++) await writeRandom(room.path('source', `${i}`), 512 << 10);
    const { sender, receiver, exits } = await transferTo(out);
    expect(exits).toEqual(FAILURE);
    const failed = receiver.events().filter(({ event }) => event === 'failed');
    for (const event of failed) expect(event).toMatchObject({ code: 'TRANSFER_DISK_FULL' });
    const there = await readdir(join(out, 'source'));
    expect(failed.length + there.length).toBe(8);
    expect(there.length).toBeGreaterThanOrEqual(2);
    expect(failed.map(({ path }) => path).sort()).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7]
        .map(String)
        .filter((name) => !there.includes(name))
        .map((name) => `source/${name}`),
    );
    expect(lastOf(sender)).toMatchObject({ event: 'error', code: 'TRANSFER_DISK_FULL' });
    expect(await readdir(out)).toEqual(['source']);
    run('mount', '-o', `remount,size=${64 * MIB}`, out);
    const again = await transferTo(out);
    expect(again.exits).toEqual(SUCCESS);
    expect(lastOf(again.receiver)).toMatchObject({ files: failed.length, skipped: there.length });
    expect(await readTree(join(out, 'source'))).toEqual(await readTree(room.path('source')));
  });
});

describe.skipIf(!IS_ROOT)('a read-only destination (this test needs root, to run as another user)', () => {
  const asNobody = { uid: NOBODY };

  it('is reported with its path, nothing is written, and the sender keeps waiting', async () => {
    await writeFile(room.path('source', 'file'), 'content');
    await mkdir(room.path('out'), { mode: 0o555 });
    const { sender, port } = await room.send(['source']);
    const connect = ['--connect', `127.0.0.1:${port}`];
    const receiver = await room.receive([...connect, '--out', 'out'], asNobody);
    expect(await receiver.ended).toBe(1);
    expect(lastOf(receiver)).toMatchObject({
      event: 'error',
      code: 'TRANSFER_DESTINATION_UNUSABLE',
      message: expect.stringContaining(room.path('out')),
    });
    await sender.until('receiverLost');
    expect(await readdir(room.path('out'))).toEqual([]);
    await chmod(room.path('out'), 0o777);
    const again = await room.receive([...connect, '--out', 'out'], asNobody);
    expect(await exitsOf({ sender, receiver: again })).toEqual(SUCCESS);
    expect(await readdir(room.path('out', 'source'))).toEqual(['file']);
  });

  it('in one folder only is reported there; the others arrive, and the next run completes it', async () => {
    for (const folder of ['closed', 'open']) {
      await mkdir(room.path('source', folder));
      await writeFile(room.path('source', folder, 'file'), folder);
      await mkdir(room.path('out', 'source', folder), { recursive: true });
    }
    for (const path of ['out', 'out/source', 'out/source/open']) await chown(room.path(path), NOBODY, NOBODY);
    const { sender, receiver, exits } = await transferTo('out', asNobody);
    expect(exits).toEqual(FAILURE);
    for (const side of [sender, receiver]) {
      const failed = side
        .events()
        .filter(({ event }) => event === 'failed')
        .map(({ path, code }) => `${path} ${code}`);
      expect(failed).toContain('source/closed/file TRANSFER_DESTINATION_UNUSABLE');
      expect(failed.filter((line) => line.includes('open'))).toEqual([]);
    }
    expect(await readdir(room.path('out', 'source', 'open'))).toEqual(['file']);
    await chown(room.path('out', 'source', 'closed'), NOBODY, NOBODY);
    expect((await transferTo('out', asNobody)).exits).toEqual(SUCCESS);
    const out = await readTree(room.path('out', 'source'));
    expect(out).toEqual(await readTree(room.path('source')));
  });
});

describe.skipIf(!IS_ROOT)('a destination on a read-only file system (this test needs root)', () => {
  it('is reported with its path by the receiver, and nothing is written', async () => {
    await writeFile(room.path('source', 'file'), 'content');
    const out = await room.mountTmpfs('out', 8 * MIB);
    run('mount', '-o', 'remount,ro', out);
    const { sender, port } = await room.send(['source']);
    const receiver = await room.receive(['--connect', `127.0.0.1:${port}`, '--out', out]);
    expect(await receiver.ended).toBe(1);
    expect(lastOf(receiver)).toMatchObject({
      code: 'TRANSFER_DESTINATION_UNUSABLE',
      message: expect.stringContaining(out),
    });
    await sender.until('receiverLost');
    expect(await readdir(out)).toEqual([]);
  });
});

it('a destination that is a file is reported and left unchanged', async () => {
  await writeFile(room.path('source', 'file'), 'content');
  await writeFile(room.path('out'), 'in the way');
  await room.send(['source']);
  const receiver = await room.receive(['--out', 'out']);
  expect(await receiver.ended).toBe(1);
  expect(lastOf(receiver)).toMatchObject({
    event: 'error',
    code: expect.stringMatching(/^TRANSFER_DESTINATION_/),
    message: expect.stringContaining(room.path('out')),
  });
});

describe('a name that the destination cannot have', () => {
  it('because it is not UTF-8 is reported by the sender before its code; the others arrive, and the next run completes it', async () => {
    const bad = Buffer.concat([Buffer.from(`${room.path('source')}/bad `), Buffer.from([0xff, 0xfe])]);
    await writeFile(bad, 'content');
    await writeFile(room.path('source', 'good'), 'content');
    const { sender, receiver, exits } = await transferTo('out');
    expect(exits).toEqual(FAILURE);
    const name = String.raw`source/bad \xff\xfe`;
    expect(sender.events()[0]).toEqual({
      event: 'warning',
      message: `Not UTF-8, so stays behind until renamed: "${name}".`,
      count: 1,
      names: [name],
    });
    for (const side of [sender, receiver]) {
      expect(lastOf(side)).toMatchObject({ code: 'TRANSFER_NAME_UNSENDABLE', message: expect.stringContaining(name) });
      expect(side.stdout).not.toContain('The sender offered');
    }
    expect(await readdir(room.path('out', 'source'))).toEqual(['good']);
    await rm(bad);
    expect((await transferTo('out')).exits).toEqual(SUCCESS);
  });

  it("because a file has the name of an offered folder is reported with the folder's content; the others arrive", async () => {
    await mkdir(room.path('source', 'taken'));
    await writeFile(room.path('source', 'taken', 'inside'), 'content');
    await writeFile(room.path('source', 'good'), 'content');
    await mkdir(room.path('out', 'source'), { recursive: true });
    await writeFile(room.path('out', 'source', 'taken'), 'in the way');
    const { sender } = await room.send(['source']);
    const receiver = await room.receive(['--out', 'out', '--overwrite']);
    expect(await exitsOf({ sender, receiver })).toEqual(FAILURE);
    for (const side of [sender, receiver]) {
      const failed = side
        .events()
        .filter(({ event }) => event === 'failed')
        .map(({ path }) => path);
      expect(failed).toEqual(['source/taken', 'source/taken/inside']);
    }
    expect((await readdir(room.path('out', 'source'))).sort()).toEqual(['good', 'taken']);
    await rm(room.path('out', 'source', 'taken'));
    expect((await room.transfer(['source'])).exits).toEqual(SUCCESS);
    expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
  });
});

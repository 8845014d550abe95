// SPDX-License-Identifier: MPL-2.0
import { appendFile, chmod, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { exitsOf, IS_ROOT, lastOf, NOBODY, Sandbox } from '../harness/sandbox.ts';
import { readContents, readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';

const MIB = 1 << 20;
const FAILURE = { sender: 1, receiver: 1 };
const SUCCESS = { sender: 0, receiver: 0 };

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
  await mkdir(room.path('source'));
});
afterEach(() => room.close());

/** Expects both sides to report the entry and its error code, in an event and in their last line. */
function expectFailure(sides: { sender: Running; receiver: Running }, path: string, code: string): void {
  for (const side of [sides.sender, sides.receiver]) {
    const failed = side.events().filter(({ event }) => event === 'failed');
    expect(failed).toEqual([expect.objectContaining({ path, code, message: expect.stringMatching(/\S/) })]);
    expect(lastOf(side)).toMatchObject({ event: 'error', code, message: expect.stringContaining(path) });
  }
}

/** Sends `source` slowly enough to change it meanwhile; calls `meddle` after the first MiB has arrived. */
async function transferWhile(meddle: () => Promise<void>): Promise<{ sender: Running; receiver: Running }> {
  const { sender } = await room.send(['source', '--limit', '8M']);
  const receiver = await room.receive(['--out', 'out']);
  await receiver.until('progress', ({ bytes }) => (bytes as number) >= MIB);
  await meddle();
  return { sender, receiver };
}

describe('a source that changes during the transfer', () => {
  it.each([
    ['is written to', (path: string) => appendFile(path, 'more')],
    ['gets shorter', (path: string) => writeFile(path, 'short')],
    ['is touched', (path: string) => utimes(path, 1, 1)],
  ])(
    'because it %s is reported and not delivered; the others arrive, and the next run brings it',
    async (_, meddle) => {
      await writeRandom(room.path('source', 'large'), 12 * MIB);
      await writeSmallFiles(room.path('source', 'small'), 20);
      const sides = await transferWhile(() => meddle(room.path('source', 'large')));
      expect(await exitsOf(sides)).toEqual(FAILURE);
      expectFailure(sides, 'source/large', 'TRANSFER_SOURCE_CHANGED');
      expect(await readTree(room.path('out', 'source', 'small'))).toEqual(await readTree(room.path('source', 'small')));
      expect([...(await readTree(room.path('out'))).keys()].filter((path) => !path.includes('small'))).toEqual([
        'source',
      ]);
      expect((await room.transfer(['source'])).exits).toEqual(SUCCESS);
      expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
    },
  );

  it('because a file is removed: open files are delivered, the removed one is reported', async () => {
    await writeRandom(room.path('source', 'large'), 12 * MIB);
    await writeSmallFiles(room.path('source', 'small'), 3);
    const sides = await transferWhile(() => rm(room.path('source', 'small', '1')));
    expect(await exitsOf(sides)).toEqual(FAILURE);
    expectFailure(sides, 'source/small/1', 'TRANSFER_SOURCE_MISSING');
    expect(await readTree(room.path('out', 'source', 'small'))).toEqual(await readTree(room.path('source', 'small')));
  });

  it('after an interruption starts over, says so, and is delivered in its new version', async () => {
    await writeRandom(room.path('source', 'large'), 12 * MIB);
    const { sender } = await room.send(['source', '--limit', '8M', '--receivers', '0']);
    const first = await room.receive(['--out', 'out']);
    await first.until('progress', ({ bytes }) => (bytes as number) >= 2 * MIB);
    first.kill('SIGINT');
    expect(await first.ended).toBe(130);
    sender.kill('SIGINT');
    await sender.ended;
    await writeRandom(room.path('source', 'large'), 9 * MIB);
    const { exits, receiver } = await room.transfer(['source']);
    expect(exits).toEqual(SUCCESS);
    expect(receiver.events().filter(({ event }) => event === 'warning')).toEqual([
      { event: 'warning', path: 'source/large', message: expect.stringContaining('starting over') },
    ]);
    expect(lastOf(receiver)).toMatchObject({ bytes: 9 * MIB, resumedBytes: 0 });
    expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
  });
});

describe('a missing source', () => {
  it('is reported before the sender starts waiting', async () => {
    const sender = await room.start(['send', 'source', 'no such file', '--json', '--listen', '127.0.0.1:0']);
    expect(await sender.ended).toBe(1);
    expect(sender.events()).toEqual([
      { event: 'error', code: 'TRANSFER_SOURCE_MISSING', message: expect.stringContaining('no such file') },
    ]);
  });

  it('that was removed before a receiver came is reported on both sides, and the others arrive', async () => {
    for (const name of ['stays', 'goes']) await writeFile(room.path('source', name), name);
    const { sender } = await room.send(['source/stays', 'source/goes']);
    await rm(room.path('source', 'goes'));
    const receiver = await room.receive(['--out', 'out']);
    expect(await exitsOf({ sender, receiver })).toEqual(FAILURE);
    expectFailure({ sender, receiver }, 'goes', 'TRANSFER_SOURCE_MISSING');
    expect(await readContents(room.path('out'))).toEqual(await readContents(room.path('source')));
  });
});

describe.skipIf(!IS_ROOT)('a source without read permission (this test needs root, to run as another user)', () => {
  const asNobody = { uid: NOBODY };

  it.each([
    ['file', 'source/secret', async () => writeFile(room.path('source', 'secret'), 'x', { mode: 0o600 })],
    [
      'large file',
      'source/secret',
      async () => {
        await writeRandom(room.path('source', 'secret'), 3 * MIB);
        await chmod(room.path('source', 'secret'), 0o600);
      },
    ],
    [
      'folder',
      'source/secret',
      async () => {
        await mkdir(room.path('source', 'secret'), { mode: 0o700 });
        await writeFile(room.path('source', 'secret', 'inside'), 'x');
      },
    ],
  ])(
    'because it is a %s of another user is reported; the others arrive, and the next run completes it',
    async (_, path, make) => {
      await make();
      await writeFile(room.path('source', 'public'), 'content');
      const { sender, port } = await room.send(['source'], asNobody);
      const receiver = await room.receive(['--connect', `127.0.0.1:${port}`, '--out', 'out']);
      expect(await exitsOf({ sender, receiver })).toEqual(FAILURE);
      expectFailure({ sender, receiver }, path, 'TRANSFER_SOURCE_UNREADABLE');
      expect(await readFile(room.path('out', 'source', 'public'), 'utf8')).toBe('content');
      await chmod(room.path('source', 'secret'), 0o755);
      const again = await room.send(['source'], asNobody);
      const completed = await room.receive(['--connect', `127.0.0.1:${again.port}`, '--out', 'out']);
      expect(await exitsOf({ sender: again.sender, receiver: completed })).toEqual(SUCCESS);
      expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
    },
  );
});

// SPDX-License-Identifier: MPL-2.0
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lastOf, Sandbox } from '../harness/sandbox.ts';

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
  await writeFile(room.path('file'), 'content');
});
afterEach(() => room.close());

async function guess(words: string) {
  const receiver = await room.start(['receive', `7-${words}`, '--yes', '--json', '--out', 'stolen']);
  return { exit: await receiver.ended, code: lastOf(receiver)?.code };
}

it('ends the receiver at once with 3, and the third wrong guess ends the offer', async () => {
  const { sender } = await room.send(['file']);
  expect(await guess('wrong-words')).toEqual({ exit: 3, code: 'CODE_WRONG' });
  expect(await sender.until('wrongCode')).toEqual({ event: 'wrongCode', remaining: 2 });
  expect(await guess('guitar-pencils')).toEqual({ exit: 3, code: 'CODE_WRONG' });
  expect(await sender.until('wrongCode', ({ remaining }) => remaining === 1)).toBeDefined();
  expect((await guess('pencil-guitar')).exit).toBe(3);
  expect(await sender.ended).toBe(3);
  expect(lastOf(sender)).toEqual({ event: 'error', code: 'CODE_EXHAUSTED', message: expect.any(String) });
  expect((await readdir(room.home)).sort()).toEqual(['file', `run-${process.getuid?.()}`]);
  expect(await room.announced()).toEqual([]);
});

it('does not keep a right receiver between two wrong ones from being served', async () => {
  const { sender } = await room.send(['file', '--receivers', '2']);
  expect((await guess('wrong-words')).exit).toBe(3);
  expect(await (await room.receive(['--out', 'one'])).ended).toBe(0);
  expect((await guess('other-words')).exit).toBe(3);
  expect(await (await room.receive(['--out', 'two'])).ended).toBe(0);
  expect(await sender.ended).toBe(0);
  for (const out of ['one', 'two']) expect(await readFile(room.path(out, 'file'), 'utf8')).toBe('content');
  expect(await readdir(room.home)).not.toContain('stolen');
});

it('lets a running transfer finish at the third wrong guess, and then ends the offer', async () => {
  await writeFile(room.path('file'), Buffer.alloc(6 << 20));
  const { sender } = await room.send(['file', '--receivers', '2', '--limit', '4M']);
  const right = await room.receive(['--out', 'one']);
  await right.until('connected');
  for (const words of ['a-b-c', 'b-c-d', 'c-d-e']) expect((await guess(words)).exit).toBe(3);
  expect(await right.ended).toBe(0);
  expect(await readdir(room.path('one'))).toEqual(['file']);
  expect(await sender.ended).toBe(3);
  expect(lastOf(sender)).toMatchObject({ event: 'error', code: 'CODE_EXHAUSTED' });
});

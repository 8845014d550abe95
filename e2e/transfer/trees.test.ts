// SPDX-License-Identifier: MPL-2.0
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CODE, exitsOf, LISTEN, Sandbox } from '../harness/sandbox.ts';
import { makeAwkwardTree, readTree, type Seen, writeRandom, writeSmallFiles } from '../harness/tree.ts';

const SUCCESS = { sender: 0, receiver: 0 };

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
});
afterEach(() => room.close());

it('delivers an awkward tree equal in content, mode, time and links, and leaves no other file behind', async () => {
  await makeAwkwardTree(room.path('source', 'tree'));
  const { exits, sender, receiver } = await room.transfer(['source/tree']);
  expect({ exits, stderr: sender.stderr + receiver.stderr }).toEqual({ exits: SUCCESS, stderr: '' });
  expect(await readTree(room.path('out'))).toEqual(await readTree(room.path('source')));
  expect(await room.announced()).toEqual([]);
});

it('delivers the tree again as up to date: nothing is sent, nothing is touched', async () => {
  await makeAwkwardTree(room.path('source', 'tree'));
  await room.transfer(['source/tree']);
  const before = await readTree(room.path('out'));
  const files = [...before.values()].filter(({ type }) => type === 'file').length;
  const { exits, receiver } = await room.transfer(['source/tree']);
  expect(exits).toEqual(SUCCESS);
  expect(receiver.events().at(-1)).toMatchObject({ event: 'done', files: 0, bytes: 0, skipped: files });
  expect(await readTree(room.path('out'))).toEqual(before);
});

it('delivers over four lanes', async () => {
  await makeAwkwardTree(room.path('source', 'tree'));
  await writeSmallFiles(room.path('source', 'tree', 'small'), 300);
  await writeRandom(room.path('source', 'tree', 'big'), 40 << 20);
  const { sender } = await room.send(['source/tree']);
  const receiver = await room.receive(['--out', 'out'], { env: { KD_LANES: '4' } });
  expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
  expect(await readTree(room.path('out'))).toEqual(await readTree(room.path('source')));
});

it('delivers several roots, keeping two of the same name apart', async () => {
  for (const folder of ['a', 'b']) {
    await mkdir(room.path(folder, 'same'), { recursive: true });
    await writeFile(room.path(folder, 'same', 'file'), folder);
    await writeFile(room.path(folder, 'report.pdf'), `report of ${folder}`);
  }
  const { exits } = await room.transfer(['a/same', 'b/same', 'a/report.pdf', 'b/report.pdf']);
  expect(exits).toEqual(SUCCESS);
  const out = await readTree(room.path('out'));
  const [a, b] = [await readTree(room.path('a')), await readTree(room.path('b'))];
  expect([...out.keys()]).toEqual(['report (1).pdf', 'report.pdf', 'same', 'same/file', 'same (1)', 'same (1)/file']);
  const origins: [string, Seen | undefined][] = [
    ['report.pdf', a.get('report.pdf')],
    ['report (1).pdf', b.get('report.pdf')],
    ['same', a.get('same')],
    ['same (1)', b.get('same')],
    ['same/file', a.get('same/file')],
    ['same (1)/file', b.get('same/file')],
  ];
  for (const [path, origin] of origins) expect(out.get(path)).toEqual(origin);
});

it('sends the target of a root that is a symlink', async () => {
  await mkdir(room.path('real'));
  await writeFile(room.path('real', 'file'), 'content');
  await symlink('real', room.path('link'));
  await symlink('real/file', room.path('link to a file'));
  const { exits } = await room.transfer(['link', 'link to a file']);
  expect(exits).toEqual(SUCCESS);
  const out = await readTree(room.path('out'));
  const real = await readTree(room.path('real'));
  expect([...out.keys()]).toEqual(['link', 'link/file', 'link to a file']);
  expect(out.get('link')?.type).toBe('directory');
  expect(out.get('link to a file')).toEqual(real.get('file'));
  expect(out.get('link/file')).toEqual(real.get('file'));
});

it('writes into the current folder by default, and through a destination that is a symlink', async () => {
  await mkdir(room.path('elsewhere'));
  await symlink('elsewhere', room.path('out'));
  await writeFile(room.path('file'), 'content');
  expect((await room.transfer(['file'])).exits).toEqual(SUCCESS);
  expect(await readdir(room.path('elsewhere'))).toEqual(['file']);
});

it('delivers through the launcher of the checkout', async () => {
  await makeAwkwardTree(room.path('source', 'photos'));
  await writeRandom(room.path('source', 'movie.mkv'), 3_000_000);
  const command = [fileURLToPath(new URL('../../scripts/keibidrop', import.meta.url))];
  const sender = await room.start(['send', 'source/photos', 'source/movie.mkv', ...LISTEN], { command });
  const [, code = ''] = await sender.shows(/^On the other computer: keibidrop receive (\S+)$/m);
  expect(code).toMatch(/^\d{1,3}-[a-z]+-[a-z]+$/);
  expect(code).not.toBe(CODE);
  const receiver = await room.start(['receive', code, '--out', 'in', '--yes'], { command });
  expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
  expect(await readTree(room.path('in'))).toEqual(await readTree(room.path('source')));
});

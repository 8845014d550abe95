// SPDX-License-Identifier: MPL-2.0
import { mkdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GuestSource } from '../src/guest/guest-source.ts';
import { CuttableWay } from './cuttable-way.ts';
import { collect, ShareRoom } from './share-room.ts';

const MEND_MS = 200;

let room: ShareRoom;
beforeEach(async () => {
  room = await ShareRoom.open();
});
afterEach(() => room.close());

it('repeats a list request in the next session, and yields to the event loop until there is one', async () => {
  await mkdir(room.path('folder'));
  await writeFile(room.path('folder', 'file'), '');
  await room.share('folder');
  const { host, port } = await room.until('waiting');
  const way = await CuttableWay.to({ host, port });
  const guest = await room.connect({ connect: { host: '127.0.0.1', port: way.port }, patienceMs: 30_000 });
  const source = new GuestSource(guest);
  const names = async () => {
    const signal = AbortSignal.timeout(5000);
    return (await collect(source.list('', { signal }))).flatMap(({ entries }) => entries.map(({ name }) => name));
  };
  expect(await names()).toEqual(['file']);
  way.cut();
  const asked = [names(), names()];
  setTimeout(() => way.mend(), MEND_MS);
  expect(await Promise.all(asked)).toEqual([['file'], ['file']]);
  await guest.close();
  await way.close();
});

// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../bench/free-port.mjs';
import { whyNotMountable } from '../../packages/mount/src/index.ts';
import { LaneCounter } from '../harness/lane-counter.ts';
import { Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { shellIn } from './shell.ts';

const PHOTOS = 24;
const PHOTO_BYTES = 2 * 2 ** 20;
const FILM_BYTES = 32 * 2 ** 20;
/** Bytes that the kernel requests from sshfs when a program reads 64 KiB, in one piece and in pieces of 8 KiB. */
const SSHFS_BYTES = { whole: 128 * 2 ** 10, pieces: 240 * 2 ** 10 };
const MOST = 1.5;

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

let sandbox: Sandbox;
let anna: OwnDaemon;
let bob: OwnDaemon;
let counter: LaneCounter;

const shell = (line: string) => shellIn(sandbox, line);

/** Bytes that the lanes carry for a shell line, counted until no more arrive. */
async function carriedBy(line: string): Promise<number> {
  const before = counter.laneBytes;
  expect(await shell(line)).toBe('');
  const more = () => {
    const last = seen;
    seen = counter.laneBytes;
    return seen - last;
  };
  let seen = before;
  await expect.poll(more, { interval: 300, timeout: 20_000 }).toBe(0);
  return seen - before;
}

describe.skipIf(reason !== undefined)('reading only the beginning of a file', () => {
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    counter = await LaneCounter.open();
    counter.target = await freePort();
    await mkdir(sandbox.path('photos'));
    for (let i = 0; i < PHOTOS; i++) await writeFile(sandbox.path('photos', `${i}.jpg`), randomBytes(PHOTO_BYTES));
    await writeFile(sandbox.path('photos', 'film'), randomBytes(FILM_BYTES));
    [anna, bob] = await Promise.all([OwnDaemon.start(sandbox, 'anna'), OwnDaemon.start(sandbox, 'bob')]);
    const { event } = await anna.command('add', 'photos', '--listen', `127.0.0.1:${counter.target}`);
    const mounted = await bob.command('mount', event.code as string, 'far', '--connect', counter.address);
    expect(mounted).toMatchObject({ exit: 0 });
    await shell('ls -l far');
  });
  afterAll(async () => {
    await bob?.command('stop');
    await counter?.close();
    await sandbox?.close();
  });

  it.each([
    ['one piece', 0, SSHFS_BYTES.whole, 'dd if=far/$i.jpg bs=64k count=1 status=none'],
    ['pieces of 8 KiB', PHOTOS / 2, SSHFS_BYTES.pieces, 'dd if=far/$i.jpg bs=8k count=8 status=none'],
  ])('moves at most 1.5 times the bytes of sshfs, in %s', async (_, first, most, read) => {
    const files = PHOTOS / 2;
    const line = `for i in $(seq ${first} ${first + files - 1}); do ${read} | cmp -n 65536 - photos/$i.jpg || exit 1; done`;
    expect(await carriedBy(line)).toBeLessThan(MOST * most * files);
  });

  it('moves each byte once when a program reads to the end', async () => {
    const bytes = await carriedBy('cmp far/film photos/film');
    expect(bytes).toBeGreaterThan(FILM_BYTES);
    expect(bytes).toBeLessThan(1.02 * FILM_BYTES);
  });
});

// SPDX-License-Identifier: MPL-2.0
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MountedFolder } from '../test/mounted-folder.ts';
import { shell } from '../test/outside.ts';
import { usableBackend } from './index.ts';

const reason = await usableBackend('native').then(
  () => undefined,
  (failure: Error) => failure.message,
);
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

const PROGRAM = fileURLToPath(new URL('../test/both-sides.mjs', import.meta.url));
const SQLITE = fileURLToPath(new URL('../test/sqlite-both-sides.py', import.meta.url));
/** `e2e/mount/both-sides.test.ts` has more of it, and over a network. */
const SECONDS = 3;

describe.skipIf(reason !== undefined)('a file that programs on both sides write', { timeout: 120_000 }, () => {
  const here = new MountedFolder('native');
  const run = async (way: string, amount: number) =>
    JSON.parse(await shell('exec "$@"', process.execPath, PROGRAM, way, here.at(), here.there(), `${amount}`));

  it('has every line where they take turns, and each sees the closed writes of the other', async () => {
    await here.show();
    expect(await run('turns', 100)).toEqual({ same: true, copies: 0, unseen: 0 });
  });

  it('is read from its beginning to its end while it grows', async () => {
    await here.show();
    expect(await run('grows', 60)).toMatchObject({ failed: {}, right: true });
  });

  it('keeps every commit of two programs with SQLite, and stays intact', async () => {
    await here.show();
    const counts = JSON.parse(await shell('exec python3 "$@"', SQLITE, here.at(), here.there(), `${SECONDS}`));
    expect(counts).toMatchObject({ integrity: 'ok', lost: 0, aside: 0, copies: 0, counted: true });
    expect(Math.min(counts.guest, counts.sharer), JSON.stringify(counts)).toBeGreaterThan(1);
  });

  it('keeps every line that one side appends while the other writes the head', async () => {
    await here.show();
    const counts = await run('at-once', SECONDS);
    expect(counts).toMatchObject({ lost: 0, refused: {} });
    expect(counts.written).toBeGreaterThan(1);
  });
});

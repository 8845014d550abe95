// SPDX-License-Identifier: MPL-2.0
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sqliteOnBothSides } from '../both-sides.ts';
import { MountedShare } from '../mounted-share.ts';

const SECONDS = 600;

let share: MountedShare;
beforeAll(async () => {
  share = await MountedShare.open({ patienceMs: 30_000 });
});
afterAll(() => share?.close());

it('no commit is lost of two programs with SQLite, one on each side of a database', async ({ task }) => {
  const told = await sqliteOnBothSides(share, SECONDS);
  Object.assign(task.meta, { figures: told });
  expect(told).toMatchObject({ integrity: 'ok', lost: 0, aside: 0, copies: 0, counted: true });
});

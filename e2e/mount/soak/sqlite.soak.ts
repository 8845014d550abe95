// SPDX-License-Identifier: MPL-2.0
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sqliteOnBothSides } from '../both-sides.ts';
import { MountedShare } from '../mounted-share.ts';

const SECONDS = 600;
/** The daemons outlive the programs that use them. */
const DAEMONS = { timeoutMs: 2 * SECONDS * 1000 };

let share: MountedShare;
beforeAll(async () => {
  share = await MountedShare.open({ patienceMs: 30_000, sharing: DAEMONS, mounting: DAEMONS });
});
afterAll(() => share?.close());

it('no commit is lost of two programs with SQLite, one on each side of a database', async ({ task }) => {
  const counted = await sqliteOnBothSides(share, SECONDS);
  Object.assign(task.meta, { figures: counted });
  expect(counted).toMatchObject({ integrity: 'ok', lost: 0, aside: 0, copies: 0, counted: true });
  // SQLite is not fair: a writer may wait in vain for its turn.
  const refused = Object.keys({ ...counted.refused.guest, ...counted.refused.sharer });
  expect(refused.filter((error) => !/BUSY|is locked/.test(error))).toEqual([]);
});

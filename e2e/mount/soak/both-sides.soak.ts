// SPDX-License-Identifier: MPL-2.0
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bothSides } from '../both-sides.ts';
import { MountedShare } from '../mounted-share.ts';

const SECONDS = 600;
/** The daemons outlive the programs that use them. */
const DAEMONS = { timeoutMs: 2 * SECONDS * 1000 };

let share: MountedShare;
beforeAll(async () => {
  share = await MountedShare.open({ patienceMs: 30_000, sharing: DAEMONS, mounting: DAEMONS });
});
afterAll(() => share?.close());

it('no line is lost while a program appends and a guest writes the head of the same file', async ({ task }) => {
  const counted = await bothSides(share, 'at-once', SECONDS);
  Object.assign(task.meta, { figures: counted });
  expect(counted).toMatchObject({ lost: 0, refused: {} });
});

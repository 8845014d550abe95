// SPDX-License-Identifier: MPL-2.0
import { afterEach, describe, expect, it } from 'vitest';
import { whyNotMountable } from '../../packages/mount/src/index.ts';
import { bothSides, sqliteOnBothSides } from './both-sides.ts';
import { MountedShare } from './mounted-share.ts';

// `npm run soak -- mount both-sides` has ten minutes of it.

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

let share: MountedShare;
afterEach(() => share?.close());

describe.skipIf(reason !== undefined)('a file of a share that both sides write', () => {
  it('has every line, in turns and at once, and is read while it grows', async () => {
    share = await MountedShare.open({ patienceMs: 30_000 });
    expect(await bothSides(share, 'turns', 100)).toEqual({ same: true, copies: 0, unseen: 0 });
    expect(await bothSides(share, 'grows', 60)).toMatchObject({ failed: {}, right: true });
    expect(await bothSides(share, 'at-once', 30)).toMatchObject({ lost: 0, refused: {} });
    const { guest, sharer, ...counted } = await sqliteOnBothSides(share, 10);
    expect(counted).toMatchObject({ integrity: 'ok', lost: 0, aside: 0, copies: 0, counted: true });
    expect(Math.min(guest, sharer), JSON.stringify(counted)).toBeGreaterThan(1);
  });
});

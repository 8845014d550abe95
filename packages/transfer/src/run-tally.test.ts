// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { RunTally } from './run-tally.ts';

const NOTHING = { files: 0, bytes: 0, placedBytes: 0, skipped: 0, resumedBytes: 0, skippedBytes: 0 };

it('is what the job counts, for a run of one session', () => {
  const counts = { files: 3, bytes: 100, placedBytes: 60, skipped: 2, resumedBytes: 25, skippedBytes: 40 };
  expect(new RunTally().totalWith(counts)).toEqual({ files: 3, bytes: 60, skipped: 2, resumedBytes: 25 });
});

it('counts what earlier sessions of the run have placed and left in parts as brought by the run', () => {
  const tally = new RunTally();
  // One file of 10 was there; of one of 100 an earlier run had 20; this one placed a file of 30 and got 35 more of the large one.
  tally.add({ files: 1, bytes: 95, placedBytes: 30, skipped: 1, resumedBytes: 20, skippedBytes: 10 });
  // Nothing but a handshake.
  tally.add({ ...NOTHING, skipped: 2, skippedBytes: 40, resumedBytes: 55, bytes: 95 });
  const last = { files: 1, bytes: 140, placedBytes: 100, skipped: 2, resumedBytes: 55, skippedBytes: 40 };
  expect(tally.totalWith(last)).toEqual({ files: 2, bytes: 130, skipped: 1, resumedBytes: 20 });
});

it('never counts less than nothing, whatever became of the files meanwhile', () => {
  const tally = new RunTally();
  tally.add({ ...NOTHING, files: 4, bytes: 400, placedBytes: 100 });
  expect(tally.totalWith(NOTHING)).toEqual({ files: 4, bytes: 100, skipped: 0, resumedBytes: 0 });
});

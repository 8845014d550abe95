// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { RunTally } from './run-tally.ts';

const NOTHING = { files: 0, bytes: 0, placedBytes: 0, skipped: 0, resumedBytes: 0, skippedBytes: 0 };

it('equals the counts of the job for a run of one session', () => {
  const counts = { files: 3, bytes: 100, placedBytes: 60, skipped: 2, resumedBytes: 25, skippedBytes: 40 };
  expect(new RunTally().totalWith(counts)).toEqual({ files: 3, bytes: 60, skipped: 2, resumedBytes: 25 });
});

it('credits files and parts of earlier sessions to the run', () => {
  const tally = new RunTally();
  // A file of 10 was complete, and 20 of a file of 100 were left from an earlier run. This session placed a file of 30 and got 35 more of the
  // large one.
  tally.add({ files: 1, bytes: 95, placedBytes: 30, skipped: 1, resumedBytes: 20, skippedBytes: 10 });
  // A session that only shook hands.
  tally.add({ ...NOTHING, skipped: 2, skippedBytes: 40, resumedBytes: 55, bytes: 95 });
  const last = { files: 1, bytes: 140, placedBytes: 100, skipped: 2, resumedBytes: 55, skippedBytes: 40 };
  expect(tally.totalWith(last)).toEqual({ files: 2, bytes: 130, skipped: 1, resumedBytes: 20 });
});

it('never becomes negative, even if files have changed meanwhile', () => {
  const tally = new RunTally();
  tally.add({ ...NOTHING, files: 4, bytes: 400, placedBytes: 100 });
  expect(tally.totalWith(NOTHING)).toEqual({ files: 4, bytes: 100, skipped: 0, resumedBytes: 0 });
});

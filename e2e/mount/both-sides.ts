// SPDX-License-Identifier: MPL-2.0
import { fileURLToPath } from 'node:url';
import type { MountedShare } from './mounted-share.ts';

const PROGRAM = fileURLToPath(new URL('../../packages/mount/test/both-sides.mjs', import.meta.url));
const SQLITE = fileURLToPath(new URL('../../packages/mount/test/sqlite-both-sides.py', import.meta.url));
/** Added to the program's own duration: for a busy machine, and for the comparison at the end. */
const SLACK_SECONDS = 120;

/** Runs both-sides.mjs on the two sides of a share and returns its report. */
export async function bothSides(share: MountedShare, way: 'turns' | 'at-once' | 'grows', amount: number) {
  return reportOf(share, `"${process.execPath}" "${PROGRAM}" ${way} bob/far anna/work ${amount}`, amount);
}

/** Runs sqlite-both-sides.py, likewise. */
export function sqliteOnBothSides(share: MountedShare, seconds: number) {
  return reportOf(share, `python3 "${SQLITE}" bob/far anna/work ${seconds}`, seconds);
}

async function reportOf(share: MountedShare, line: string, seconds: number) {
  const said = await share.shell(line, seconds + SLACK_SECONDS);
  if (!said.startsWith('{')) throw new Error(said);
  return JSON.parse(said);
}

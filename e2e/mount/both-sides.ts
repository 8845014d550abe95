// SPDX-License-Identifier: MPL-2.0
import { fileURLToPath } from 'node:url';
import type { MountedShare } from './mounted-share.ts';

const PROGRAM = fileURLToPath(new URL('../../packages/mount/test/both-sides.mjs', import.meta.url));
/** Added to the program's own duration: for a busy machine, and for the comparison at the end. */
const SLACK_SECONDS = 120;

/** Runs both-sides.mjs on the two sides of a share and returns its report. */
export async function bothSides(share: MountedShare, way: 'turns' | 'at-once' | 'grows', amount: number) {
  const line = `"${process.execPath}" "${PROGRAM}" ${way} bob/far anna/work ${amount}`;
  const said = await share.shell(line, amount + SLACK_SECONDS);
  if (!said.startsWith('{')) throw new Error(said);
  return JSON.parse(said);
}

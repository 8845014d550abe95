// SPDX-License-Identifier: MPL-2.0
import { fileURLToPath } from 'node:url';
import type { MountedShare } from './mounted-share.ts';

const PROGRAM = fileURLToPath(new URL('../../packages/mount/test/both-sides.mjs', import.meta.url));
/** Beside what it is told to take: a busy machine, and what is read and compared at the end. */
const SLACK_SECONDS = 120;

/** What the program of this name says of the file that it writes on both sides of a share. */
export async function bothSides(share: MountedShare, way: 'turns' | 'at-once' | 'grows', amount: number) {
  const line = `"${process.execPath}" "${PROGRAM}" ${way} bob/far anna/work ${amount}`;
  const said = await share.shell(line, amount + SLACK_SECONDS);
  if (!said.startsWith('{')) throw new Error(said);
  return JSON.parse(said);
}

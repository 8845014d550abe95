// SPDX-License-Identifier: MPL-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, type TestContext } from 'vitest';
import { MountedShare, type MountedShareOptions } from '../mounted-share.ts';
import { TwoPrograms } from '../two-programs.ts';

// Kill -9 in the middle of reads and of fsynced writes. Afterwards nothing is stuck, nothing is dead, nothing acknowledged is lost, and all goes on.

const ROUNDS = 5;
/** Who waits at a relay comes back to one that has held it for so long at once, and to one that comes and goes with pauses that grow. */
const STEADY_MS = 11_000;
const PATIENCE_MS = 2000;
/** Of one call: what it waits for twice, and a machine with more to do than it can. */
const LONGEST_MS = 2 * PATIENCE_MS + 2000;

let share: MountedShare;
let programs: TwoPrograms;
const open = async (options: MountedShareOptions = {}) => {
  share = await MountedShare.open({ patienceMs: PATIENCE_MS, words: ['--cache-size', '16M'], ...options });
};
afterEach(() => share?.close());

/** Until it shows the folder as it should be, which is the only thing there. */
async function isBack(): Promise<void> {
  expect(await share.shell('until cmp -s bob/far/known-0 anna/work/known-0; do sleep 0.02; done', 15)).toBe('');
  expect(await share.shell('grep -c bob/far /proc/self/mountinfo')).toBe('1');
}

async function end({ task }: TestContext, before: object = {}): Promise<Record<string, unknown>> {
  const { refused, ...told } = await programs.end();
  expect(told.longestMs).toBeLessThan(LONGEST_MS);
  expect(told.longestStuckMs).toBeLessThan(LONGEST_MS);
  const figures = { ...told, ...refused, ...before };
  Object.assign(task.meta, { figures });
  return figures;
}

describe('kill -9 in the middle of reads and writes', () => {
  it('of the mount host', async (context) => {
    await open();
    for (let round = 0; round < ROUNDS; round++) {
      programs = await TwoPrograms.start(share);
      const host = share.host as number;
      const killed = performance.now();
      process.kill(host, 'SIGKILL');
      await programs.noticed();
      programs.check();
      await expect.poll(() => share.host, { timeout: 5000 }).toSatisfy((now) => now !== undefined && now !== host);
      await isBack();
      await end(context, { backMs: performance.now() - killed });
    }
  });

  it('of the daemon that mounts', async (context) => {
    await open();
    for (let round = 0; round < ROUNDS; round++) {
      programs = await TwoPrograms.start(share);
      share.mounting.running.kill();
      await programs.noticed();
      programs.check();
      await expect.poll(() => share.isMounted, { timeout: 5000 }).toBe(false);
      const killed = performance.now();
      await share.mounting.replace();
      await isBack();
      await end(context, { backMs: performance.now() - killed });
    }
  });

  it('of the mount host and both daemons, at once', async (context) => {
    await open();
    for (let round = 0; round < ROUNDS; round++) {
      programs = await TwoPrograms.start(share);
      process.kill(share.host as number, 'SIGKILL');
      share.mounting.running.kill();
      share.sharing.running.kill();
      await programs.noticed();
      programs.check();
      await Promise.all([share.mounting.replace(), share.sharing.replace()]);
      await isBack();
      await end(context);
    }
  });

  it('of the daemon that shares', async (context) => {
    await open();
    programs = await TwoPrograms.start(share);
    let backMs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      share.sharing.running.kill();
      await programs.noticed();
      programs.check();
      await share.sharing.replace();
      backMs = Math.max(backMs, await programs.goOn());
    }
    await isBack();
    await end(context, { backMs });
  });

  it('of the relay between them', async (context) => {
    await open({ by: 'relay' });
    programs = await TwoPrograms.start(share);
    let backMs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(STEADY_MS);
      share.relay.kill();
      await programs.noticed();
      programs.check();
      await share.replaceRelay();
      backMs = Math.max(backMs, await programs.goOn());
    }
    await isBack();
    await end(context, { backMs });
  });
});

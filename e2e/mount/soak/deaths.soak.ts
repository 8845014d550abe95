// SPDX-License-Identifier: MPL-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, type TestContext } from 'vitest';
import { MountedShare, type MountedShareOptions } from '../mounted-share.ts';
import { TwoPrograms } from '../two-programs.ts';

// Kills processes in the middle of reads and fsynced writes. Afterwards no process is stuck, no mount is dead, no
// acknowledged write is lost, and programs continue.

const ROUNDS = 5;
/** A sharing daemon rejoins a relay at once if that relay held it for this long; otherwise with growing pauses. */
const STEADY_MS = 11_000;

let share: MountedShare;
let programs: TwoPrograms;
const open = async (options: MountedShareOptions = {}) => {
  share = await MountedShare.open({ patienceMs: 2000, words: ['--cache-size', '16M'], ...options });
};
afterEach(() => share?.close());

/** Waits until the mount shows the folder again, and expects only one mount there. */
async function isBack(): Promise<void> {
  await share.shows('known-0');
  expect(await share.shell('grep -c bob/far /proc/self/mountinfo')).toBe('1');
}

/** Starts new programs in each round. `death` resolves with the time at which recovery began. */
async function endsThem(context: TestContext, death: () => Promise<number>): Promise<void> {
  await open();
  for (let round = 0; round < ROUNDS; round++) {
    programs = await TwoPrograms.start(share);
    const began = await death();
    await isBack();
    await programs.end(context, { backMs: performance.now() - began });
  }
}

/** Keeps the same programs in all rounds. */
async function stopsThem(
  context: TestContext,
  options: MountedShareOptions,
  death: () => Promise<void>,
): Promise<void> {
  await open(options);
  programs = await TwoPrograms.start(share);
  let backMs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await death();
    backMs = Math.max(backMs, await programs.goOn());
  }
  await isBack();
  await programs.end(context, { backMs });
}

describe('kill -9 in the middle of reads and writes', () => {
  it('of the mount host', (context) =>
    endsThem(context, async () => {
      const host = share.host as number;
      const killed = performance.now();
      process.kill(host, 'SIGKILL');
      await programs.noticed();
      await share.hasOtherHost(host);
      return killed;
    }));

  it('of the daemon that mounts', (context) =>
    endsThem(context, async () => {
      share.mounting.running.kill();
      await programs.noticed();
      await expect.poll(() => share.isMounted, { timeout: 5000 }).toBe(false);
      const unmounted = performance.now();
      await share.mounting.replace();
      return unmounted;
    }));

  it('of the mount host and both daemons, at once', (context) =>
    endsThem(context, async () => {
      process.kill(share.host as number, 'SIGKILL');
      share.mounting.running.kill();
      share.sharing.running.kill();
      await programs.noticed();
      const noticed = performance.now();
      await Promise.all([share.mounting.replace(), share.sharing.replace()]);
      return noticed;
    }));

  it('of the daemon that shares', (context) =>
    stopsThem(context, {}, async () => {
      share.sharing.running.kill();
      await programs.noticed();
      await share.sharing.replace();
    }));

  it('of the relay between them', (context) =>
    stopsThem(context, { by: 'relay' }, async () => {
      await sleep(STEADY_MS);
      share.relay.kill();
      await programs.noticed();
      await share.replaceRelay();
    }));
});

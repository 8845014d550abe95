// SPDX-License-Identifier: MPL-2.0
import { afterEach, describe, expect, it } from 'vitest';
import { whyNotMountable } from '../../packages/mount/src/index.ts';
import { MountedShare } from './mounted-share.ts';
import { TwoPrograms } from './two-programs.ts';

// `npm run soak -- mount deaths` has the rest of it, and more of each.

const PATIENCE_MS = 1000;
const LONGEST_MS = 2 * PATIENCE_MS + 2000;

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

let share: MountedShare;
afterEach(() => share?.close());

describe.skipIf(reason !== undefined)('programs that read and fsync in a mount', () => {
  it('lose nothing and do not hang when the relay is killed, the sharing daemon, and the mount host', async () => {
    share = await MountedShare.open({ by: 'relay', patienceMs: PATIENCE_MS, words: ['--cache-size', '2M'] });
    const programs = await TwoPrograms.start(share, { records: 40 });
    share.relay.kill();
    await programs.noticed();
    await share.replaceRelay();
    await programs.goOn();
    share.sharing.running.kill();
    await programs.noticed();
    programs.check();
    await share.sharing.replace();
    await programs.goOn();
    const host = share.host as number;
    process.kill(host, 'SIGKILL');
    await programs.noticed();
    await expect.poll(() => share.host, { timeout: 5000 }).toSatisfy((now) => now !== undefined && now !== host);
    expect(await share.shell('until cmp -s bob/far/log anna/work/log; do sleep 0.02; done', 10)).toBe('');
    const { longestMs, longestStuckMs } = await programs.end();
    expect(longestMs).toBeLessThan(LONGEST_MS);
    expect(longestStuckMs).toBeLessThan(LONGEST_MS);
  });
});

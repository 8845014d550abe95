// SPDX-License-Identifier: MPL-2.0
import { afterEach, describe, it } from 'vitest';
import { whyNotMountable } from '../../packages/mount/src/index.ts';
import { MountedShare } from './mounted-share.ts';
import { TwoPrograms } from './two-programs.ts';

// `npm run soak -- mount deaths` has the other cases, and more rounds of each.

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

let share: MountedShare;
afterEach(() => share?.close());

describe.skipIf(reason !== undefined)('programs that read and fsync in a mount', () => {
  it('lose nothing and do not hang when the relay, the sharing daemon and the mount host are killed', async (context) => {
    share = await MountedShare.open({ by: 'relay', patienceMs: 1000, words: ['--cache-size', '2M'] });
    const programs = await TwoPrograms.start(share, { records: 40 });
    share.relay.kill();
    await programs.noticed();
    await share.replaceRelay();
    await programs.goOn();
    share.sharing.running.kill();
    await programs.noticed();
    await share.sharing.replace();
    await programs.goOn();
    const host = share.host as number;
    process.kill(host, 'SIGKILL');
    await programs.noticed();
    await share.hasOtherHost(host);
    await share.shows('log');
    await programs.end(context);
  });
});

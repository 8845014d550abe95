// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { endSilence, Lan, setCable, silence, withoutIpv6 } from '../../harness/lan.ts';
import { MountedShare } from '../mounted-share.ts';
import { TwoPrograms } from '../two-programs.ts';
import { needsRoot } from './needs.ts';

// A minute without a network in the middle of reads and fsynced writes, between two computers (namespaces).

const OUTAGE_MS = 60_000;
const PATIENCE_MS = 10_000;
/** Heartbeats notice a silent peer after this time; until then unacknowledged writes wait. */
const NOTICED_MS = 20_000;
const LOOK_EVERY_MS = 5000;

let lan: Lan;
let share: MountedShare;
afterEach(async () => {
  await share?.close();
  lan?.close();
});

/** Enters the network namespace only, so mounts stay visible to all processes. */
const within = (namespace: string) => ({ under: ['nsenter', `--net=/run/netns/${namespace}`, '--'] });

describe('an outage of a minute', () => {
  for (const [how, begin, end] of [
    ['that is silent', silence, endSilence],
    ['with the cable out', (plug) => setCable(plug, 'down'), (plug) => setCable(plug, 'up')],
  ] as const satisfies [string, typeof silence, typeof silence][]) {
    it(how, async (context) => {
      needsRoot(context, 'for namespaces');
      lan = new Lan();
      const middle = lan.switch('s');
      const [here, there] = [lan.host('a'), lan.host('b')];
      for (const host of [here, there]) withoutIpv6(host);
      lan.plug(here, middle, 'eth0', { ipv4: '10.77.0.1/24' });
      const plug = lan.plug(there, middle, 'eth0', { ipv4: '10.77.0.2/24' });
      share = await MountedShare.open({
        patienceMs: PATIENCE_MS,
        by: { address: '10.77.0.1:26431' },
        sharing: within(here),
        mounting: within(there),
        words: ['--cache-size', '100M'],
      });
      await writeFile(join(share.work, 'cached'), randomBytes(2 ** 20));
      const programs = await TwoPrograms.start(share);
      await share.shows('cached');
      const before = programs.counts;
      begin(plug);
      const began = performance.now();
      const noticedMs = await programs.noticed();
      for (let looks = 1; looks * LOOK_EVERY_MS < OUTAGE_MS; looks++) {
        await sleep(began + looks * LOOK_EVERY_MS - performance.now());
        const looked = performance.now();
        expect(await share.shell('cmp anna/work/cached bob/far/cached && ls bob/far | grep -c known')).toBe('6');
        expect(performance.now() - looked).toBeLessThan(looked - began < NOTICED_MS ? PATIENCE_MS : 1000);
      }
      await sleep(began + OUTAGE_MS - performance.now());
      programs.check();
      expect(programs.counts.kept - before.kept).toBeLessThan(10);
      end(plug);
      const backMs = await programs.goOn();
      await share.shows('known-3');
      await programs.end(context, { noticedMs, backMs });
    });
  }
});

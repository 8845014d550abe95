// SPDX-License-Identifier: MPL-2.0

// P8: one file of 1 GiB through a relay on loopback, beside the same directly, from the start of the session to the
// file in place under its final name.
import { rm } from 'node:fs/promises';
import { openOthers } from './others.mjs';
import { relayedCase } from './relayed.mjs';
import { transferCase } from './trees.mjs';

const BYTES = 2 ** 30;
const BAR_RATIO = 0.7;
const BAR_CPU_SECONDS = 0.4;
const DIRECT = 'KeibiDrop, directly';
const RELAYED = 'KeibiDrop, through the relay';

export async function prepare(workspace) {
  const bytes = workspace.scaled(BYTES);
  const source = await workspace.randomFile('movie.mkv', bytes);
  const others = await openOthers(workspace);
  return {
    title: '1 GiB file through the relay on loopback, session up to done',
    cases: [transferCase(workspace, DIRECT, source), relayedCase(workspace, RELAYED, source), ...others.cases(source)],
    missing: others.missing,
    bars(summary, samples) {
      const ratio = summary.get(DIRECT).median / summary.get(RELAYED).median;
      const spent = samples.get(RELAYED).map(({ relayCpu }) => relayCpu / (bytes / BYTES));
      const relayCpu = spent.toSorted((a, b) => a - b)[spent.length >> 1];
      return [
        { text: `${ratio.toFixed(2)} x the direct rate, bar ${BAR_RATIO}`, met: ratio >= BAR_RATIO },
        {
          text: `${relayCpu.toFixed(2)} CPU s of the relay per GiB, bar ${BAR_CPU_SECONDS}`,
          met: relayCpu <= BAR_CPU_SECONDS,
        },
      ];
    },
    close: () => Promise.all([rm(source), others.close()]),
  };
}

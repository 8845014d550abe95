// SPDX-License-Identifier: MPL-2.0

// fair: two transfers at once, each with its own sender and receiver, beside one alone.
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { transferOnce } from './peers.mjs';
import { assertEqual } from './workspace.mjs';

const BYTES = 2 ** 30;
const BAR_RATIO = 1.2;
const ALONE = 'one transfer alone';
const BOTH = 'two at once, the later to end';

export async function prepare(workspace) {
  const sources = await Promise.all(['one', 'two'].map((name) => workspace.randomFile(name, workspace.scaled(BYTES))));
  return {
    title: 'two transfers of 1 GiB at once, session up to done',
    runs: 5,
    cases: [
      { name: ALONE, run: () => sendAll(workspace, sources.slice(0, 1)) },
      { name: BOTH, run: () => sendAll(workspace, sources) },
    ],
    bars(summary, samples) {
      const ratios = samples.get(BOTH).map(({ each }) => Math.max(...each) / Math.min(...each));
      const ratio = ratios.sort((a, b) => a - b)[ratios.length >> 1];
      const cost = summary.get(BOTH).median / summary.get(ALONE).median;
      return [
        {
          text: `the slower took ${ratio.toFixed(2)} x the faster (median), bar ${BAR_RATIO}`,
          met: ratio <= BAR_RATIO,
        },
        { text: `both at once took ${cost.toFixed(2)} x one alone, bar 2.2`, met: cost <= 2.2 },
      ];
    },
    close: () => Promise.all(sources.map((source) => rm(source))),
  };
}

/** Compares after both transfers have ended, since a comparison would slow a running one. */
async function sendAll(workspace, sources) {
  const outs = sources.map((_, i) => workspace.path(`in-${i}`));
  const runs = await Promise.all(sources.map((source, i) => transferOnce(workspace, source, outs[i])));
  for (const [i, source] of sources.entries()) {
    await assertEqual(source, `${outs[i]}/${basename(source)}`);
    await rm(outs[i], { recursive: true });
  }
  const each = runs.map(({ done }) => done.seconds);
  const cpu = runs.reduce((sum, run) => sum + run.cpu, 0);
  return { seconds: Math.max(...each), each, cpu, rss: Math.max(...runs.map(({ rss }) => rss)) };
}

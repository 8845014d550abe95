// SPDX-License-Identifier: MPL-2.0

// P4: from both commands typed to both exited: 1 GiB and 1 MiB.
import { rm } from 'node:fs/promises';
import { runCeiling } from './p1.mjs';
import { assertEqual } from './workspace.mjs';

const BAR_LARGE_SECONDS = 0.45; // over the ceiling
const BAR_SMALL_SECONDS = 0.35;

export default async function p4(workspace) {
  const large = await workspace.randomFile('large', 2 ** 30);
  const small = await workspace.randomFile('small', 2 ** 20);
  const out = workspace.path('in');
  const exchange = (source, name) => async () => {
    const { total, cpu, rss } = await workspace.exchange(source, out);
    await assertEqual(source, `${out}/${name}`);
    await rm(out, { recursive: true });
    return { seconds: total, cpu, rss };
  };
  return {
    title: 'from both commands typed to both exited',
    cases: [
      { name: 'ceiling, 1 GiB', run: () => runCeiling(large, workspace.path('ceiling')) },
      { name: 'KeibiDrop, 1 GiB', run: exchange(large, 'large') },
      { name: 'KeibiDrop, 1 MiB', run: exchange(small, 'small') },
      { name: 'node -e 0', run: () => startNode(workspace) },
    ],
    bars(summary) {
      const over = summary.get('KeibiDrop, 1 GiB').median - summary.get('ceiling, 1 GiB').median;
      const tiny = summary.get('KeibiDrop, 1 MiB').median;
      return [
        { text: `1 GiB in the ceiling's time + ${over.toFixed(2)} s, bar ${BAR_LARGE_SECONDS} s`, met: over <= BAR_LARGE_SECONDS },
        { text: `1 MiB in ${tiny.toFixed(2)} s, bar ${BAR_SMALL_SECONDS} s`, met: tiny <= BAR_SMALL_SECONDS },
      ];
    },
  };
}

async function startNode(workspace) {
  const { wall, cpu, rss } = await workspace.start(process.execPath, ['-e', '0']).report();
  return { seconds: wall, cpu, rss };
}

// SPDX-License-Identifier: MPL-2.0

// P4: from both commands typed to both exited: 1 GiB and 1 MiB.
import { rm } from 'node:fs/promises';
import { ceilingCase } from './ceiling.mjs';
import { openOthers } from './others.mjs';
import { transferCase } from './trees.mjs';

const BAR_LARGE_SECONDS = 0.45; // over the ceiling
const BAR_SMALL_SECONDS = 0.35;

export async function prepare(workspace) {
  const large = await workspace.randomFile('large', workspace.scaled(2 ** 30));
  const small = await workspace.randomFile('small', workspace.scaled(2 ** 20));
  const others = await openOthers(workspace, { runs: Number.POSITIVE_INFINITY });
  return {
    title: 'from both commands typed to both exited',
    cases: [
      ceilingCase(workspace, 'ceiling, 1 GiB', large),
      transferCase(workspace, 'KeibiDrop, 1 GiB', large, { whole: true }),
      transferCase(workspace, 'KeibiDrop, 1 MiB', small, { whole: true }),
      { name: 'node -e 0', run: () => startNode(workspace) },
      ...others.cases(small).map((one) => ({ ...one, name: `${one.name}, 1 MiB` })),
    ],
    missing: others.missing,
    bars(summary) {
      const over = summary.get('KeibiDrop, 1 GiB').median - summary.get('ceiling, 1 GiB').median;
      const tiny = summary.get('KeibiDrop, 1 MiB').median;
      return [
        { text: `1 GiB: ceiling + ${over.toFixed(2)} s, bar ${BAR_LARGE_SECONDS} s`, met: over <= BAR_LARGE_SECONDS },
        { text: `1 MiB: ${tiny.toFixed(2)} s, bar ${BAR_SMALL_SECONDS} s`, met: tiny <= BAR_SMALL_SECONDS },
      ];
    },
    close: () => Promise.all([rm(large), rm(small), others.close()]),
  };
}

async function startNode(workspace) {
  const { wall, cpu, rss } = await workspace.start(process.execPath, ['-e', '0']).report();
  return { seconds: wall, cpu, rss };
}

// SPDX-License-Identifier: MPL-2.0

// P3: 20,000 files of 4 KiB, beside cp -r. The file system's own work on inodes varies a lot here: look at medians and bests.
import { rm } from 'node:fs/promises';
import { copyCase, transferCase } from './trees.mjs';

const BAR_RATIO = 2;

export async function prepare(workspace) {
  const tree = await workspace.randomTree('small', {
    folders: workspace.scaled(100),
    filesEach: 200,
    bytes: 4096,
  });
  return {
    title: '20,000 files of 4 KiB, session up to done',
    cases: [copyCase(workspace, 'cp -r', tree), transferCase(workspace, 'KeibiDrop', tree)],
    bars(summary) {
      const ratio = summary.get('KeibiDrop').median / summary.get('cp -r').median;
      return [{ text: `${ratio.toFixed(2)} x cp -r, bar ${BAR_RATIO}`, met: ratio <= BAR_RATIO }];
    },
    close: () => rm(tree, { recursive: true }),
  };
}

// SPDX-License-Identifier: MPL-2.0

// P2: 1000 files of 1 MiB, beside one file of the same size.
import { rm } from 'node:fs/promises';
import { openOthers } from './others.mjs';
import { copyCase, transferCase } from './trees.mjs';

const FILES = 1000;
const BAR_RATIO = 1.15;

export async function prepare(workspace) {
  const filesEach = workspace.scaled(FILES / 10);
  const single = await workspace.randomFile('single', 10 * filesEach * 2 ** 20);
  const tree = await workspace.randomTree('thousand', { folders: 10, filesEach, bytes: 2 ** 20 });
  const others = await openOthers(workspace);
  return {
    title: '1000 files of 1 MiB, session up to done',
    cases: [
      transferCase(workspace, 'KeibiDrop, one file of 1000 MiB', single),
      transferCase(workspace, 'KeibiDrop, 1000 files', tree),
      copyCase(workspace, 'cp -r, 1000 files', tree),
      ...others.cases(tree),
    ],
    missing: others.missing,
    bars(summary) {
      const ratio = summary.get('KeibiDrop, 1000 files').median / summary.get('KeibiDrop, one file of 1000 MiB').median;
      return [{ text: `${ratio.toFixed(2)} x the single file, bar ${BAR_RATIO}`, met: ratio <= BAR_RATIO }];
    },
    close: () => Promise.all([rm(single), rm(tree, { recursive: true }), others.close()]),
  };
}

// SPDX-License-Identifier: MPL-2.0

// P3: 20,000 files of 4 KiB, beside cp -r. On ext4 run it some minutes after anything that deleted many files: see discard().
import { openOthers } from './others.mjs';
import { copyCase, transferCase } from './trees.mjs';

const BAR_COPY_RATIO = 2;
const BAR_TIMES_FASTER = 3;

export async function prepare(workspace) {
  const tree = await workspace.randomTree('small', {
    folders: workspace.scaled(100),
    filesEach: 200,
    bytes: 4096,
  });
  const others = await openOthers(workspace);
  return {
    title: '20,000 files of 4 KiB, session up to done',
    cases: [copyCase(workspace, 'cp -r', tree), transferCase(workspace, 'KeibiDrop', tree), ...others.cases(tree)],
    missing: others.missing,
    bars(summary) {
      const ours = summary.get('KeibiDrop');
      const ratio = ours.median / summary.get('cp -r').median;
      return [
        { text: `${ratio.toFixed(2)} x cp -r, bar ${BAR_COPY_RATIO}`, met: ratio <= BAR_COPY_RATIO },
        ...['scp', 'rsync'].map((program) => timesFaster(ours, program, summary)),
      ];
    },
    close: () => Promise.all([workspace.discard(tree), others.close()]),
  };
}

/** From typed to exited for both, since the other program cannot report the start of its connection. */
function timesFaster(ours, program, summary) {
  const other = [...summary].find(([name]) => name.startsWith(program))?.[1];
  if (!other) return { text: `times faster than ${program}, bar ${BAR_TIMES_FASTER}` };
  const times = other.whole / ours.whole;
  return {
    text: `${times.toFixed(1)} times faster than ${program}, bar ${BAR_TIMES_FASTER}`,
    met: times >= BAR_TIMES_FASTER,
  };
}

// SPDX-License-Identifier: MPL-2.0

// P1: one file of 1 GiB on loopback, from the start of the session to the file in place under its final name.
import { rm } from 'node:fs/promises';
import { ceilingCase } from './ceiling.mjs';
import { openOthers } from './others.mjs';
import { copyCase, transferCase } from './trees.mjs';

const BYTES = 2 ** 30;
const BAR_RATIO = 1.25;
const BAR_CPU_SECONDS = 1.6;
const BAR_RSS_BYTES = 160 * 2 ** 20;
const CEILING = 'ceiling: read, AES-256-GCM, TCP, open, write';

export async function prepare(workspace) {
  const source = await workspace.randomFile('movie.mkv', workspace.scaled(BYTES));
  const others = await openOthers(workspace);
  return {
    title: '1 GiB file on loopback, session up to done',
    cases: [
      ceilingCase(workspace, CEILING, source),
      transferCase(workspace, 'KeibiDrop', source),
      transferCase(workspace, 'KeibiDrop, ChaCha20-Poly1305', source, { suite: 'chacha20-poly1305' }),
      copyCase(workspace, 'cp', source),
      ...others.cases(source),
    ],
    missing: others.missing,
    bars(summary) {
      const { median, cpu, rss } = summary.get('KeibiDrop');
      const ratio = median / summary.get(CEILING).median;
      return [
        { text: `${ratio.toFixed(2)} x ceiling, bar ${BAR_RATIO}`, met: ratio <= BAR_RATIO },
        { text: `${cpu.toFixed(2)} CPU s for both processes, bar ${BAR_CPU_SECONDS}`, met: cpu <= BAR_CPU_SECONDS },
        { text: `${(rss / 2 ** 20).toFixed(0)} MiB peak RSS of one process, bar 160`, met: rss <= BAR_RSS_BYTES },
      ];
    },
    close: () => Promise.all([rm(source), others.close()]),
  };
}

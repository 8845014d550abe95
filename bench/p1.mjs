// SPDX-License-Identifier: MPL-2.0

// P1: one file of 1 GiB on loopback, from the session being up to the file standing under its final name.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { assertEqual, ceiling } from './workspace.mjs';

const BYTES = 2 ** 30;
const BAR_RATIO = 1.25;
const BAR_CPU_SECONDS = 1.6;
const BAR_RSS_MIB = 160;
const run = promisify(execFile);

export default async function p1(workspace) {
  const source = await workspace.randomFile('movie.mkv', BYTES);
  const out = workspace.path('in');
  const exchange = (suite) => async () => {
    const { done, cpu, rss } = await workspace.exchange(source, out, { suite });
    await assertEqual(source, `${out}/movie.mkv`);
    await rm(out, { recursive: true });
    return { seconds: done.seconds, cpu, rss };
  };
  return {
    title: '1 GiB file on loopback, session up to done',
    cases: [
      { name: 'ceiling (read, AES-256-GCM, TCP, open, write)', run: () => runCeiling(source, workspace.path('ceiling')) },
      { name: 'KeibiDrop', run: exchange('aes-256-gcm') },
      { name: 'KeibiDrop, ChaCha20-Poly1305', run: exchange('chacha20-poly1305') },
      { name: 'cp', run: () => copy(workspace, source, workspace.path('copy')) },
    ],
    bars(summary) {
      const ours = summary.get('KeibiDrop');
      const ratio = ours.median / summary.get('ceiling (read, AES-256-GCM, TCP, open, write)').median;
      return [
        { text: `${ratio.toFixed(2)} x ceiling, bar ${BAR_RATIO}`, met: ratio <= BAR_RATIO },
        { text: `${ours.cpu.toFixed(2)} CPU s for both processes, bar ${BAR_CPU_SECONDS}`, met: ours.cpu <= BAR_CPU_SECONDS },
        { text: `${(ours.rss / 2 ** 20).toFixed(0)} MiB peak RSS of one process, bar ${BAR_RSS_MIB}`, met: ours.rss <= BAR_RSS_MIB * 2 ** 20 },
      ];
    },
  };
}

export async function runCeiling(source, target) {
  const { stdout } = await run(ceiling, [source, target]);
  await assertEqual(source, target);
  await rm(target);
  const { seconds, cpu_send: sender, cpu_receive: receiver } = JSON.parse(stdout);
  return { seconds, cpu: sender + receiver };
}

async function copy(workspace, source, target) {
  const { wall, cpu, rss } = await workspace.start('cp', [source, target]).report();
  await rm(target);
  return { seconds: wall, cpu, rss };
}

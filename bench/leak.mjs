// SPDX-License-Identifier: MPL-2.0

// leak: 1000 small transfers between one sender process and one receiver process; plots the resources of both.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundled } from './bundled.mjs';
import { startSend } from './peers.mjs';
import { plot } from './plot.mjs';
import { slope } from './renderer-trace.mjs';
import { pidOf, takenBy } from './resident.mjs';
import { assertEqual } from './workspace.mjs';

const TRANSFERS = 1000;
/** Code and pools that the first transfers load, compile and fill are not a leak. */
const SETTLED = 0.1;
const BAR_BYTES_EACH = 8 * 1024;
const MIB = 2 ** 20;

export async function prepare(workspace) {
  const program = await bundled('leak-receiver.mjs');
  const source = await smallTree(workspace);
  const transfers = Math.max(40, workspace.scaled(TRANSFERS));
  return {
    title: `${transfers} small transfers between two processes`,
    runs: 1,
    warmUp: false,
    cases: [
      { name: `KeibiDrop, ${transfers} transfers`, run: () => transferMany(workspace, program, source, transfers) },
    ],
    async bars(_, samples) {
      const [{ taken }] = [...samples.values()].flat();
      if (transfers === TRANSFERS) await writePlot(taken);
      return ['sender', 'receiver'].flatMap((side) => bars(side, taken));
    },
    close: () => rm(source, { recursive: true }),
  };
}

function bars(side, taken) {
  const settled = taken.filter(({ transfers }) => transfers > SETTLED * taken.at(-1).transfers);
  const bytes = slope(settled.map(({ transfers, [side]: { rss } }) => [transfers, rss]));
  const first = settled[0][side];
  const last = settled.at(-1)[side];
  return [
    {
      text: `${side}: RSS grew by ${(bytes / 1024).toFixed(1)} KiB a transfer after the first tenth, bar ${BAR_BYTES_EACH / 1024}; ${(first.rss / MIB).toFixed(0)} MiB there, ${(last.rss / MIB).toFixed(0)} at the end`,
      met: bytes <= BAR_BYTES_EACH,
    },
    {
      text: `${side}: ${first.threads} threads and ${first.descriptors} descriptors there, ${last.threads} and ${last.descriptors} at the end`,
      met: last.threads <= first.threads && last.descriptors <= first.descriptors,
    },
  ];
}

async function transferMany(workspace, program, source, transfers) {
  const out = workspace.path('in');
  const started = performance.now();
  const sender = startSend(workspace, source, { receivers: transfers });
  await sender.said('waiting');
  const receiver = workspace.start(process.execPath, [program, sender.code, out, `${transfers}`], {}, 'pipe');
  const taken = [];
  receiver.lines.on('line', (line) => {
    const { transfers: done, ...heap } = JSON.parse(line);
    const both = { sender: takenBy(pidOf(sender)), receiver: { ...takenBy(pidOf(receiver)), ...heap } };
    taken.push({ transfers: done, ...both });
    receiver.child.stdin.write('\n');
  });
  const [sent, received] = await Promise.all([sender.report(), receiver.report()]);
  await assertEqual(source, `${out}/small`);
  await rm(out, { recursive: true });
  const seconds = (performance.now() - started) / 1000;
  return { seconds, cpu: sent.cpu + received.cpu, rss: Math.max(sent.rss, received.rss), taken };
}

/** A few small files and one file that is sent in chunks. */
async function smallTree(workspace) {
  const root = workspace.path('small');
  await mkdir(root);
  for (let i = 0; i < 5; i++) await workspace.randomFile(`small/file ${i}`, 1024);
  await workspace.randomFile('small/chunks', 1.5 * MIB);
  return root;
}

async function writePlot(taken) {
  const line = (side) => ({ name: side, points: taken.map((at) => [at.transfers, at[side].rss / MIB]) });
  const svg = plot({
    title: 'RSS over 1000 transfers',
    x: 'transfers',
    y: 'MiB',
    lines: [line('sender'), line('receiver')],
  });
  const date = new Date().toISOString().slice(0, 10);
  await writeFile(fileURLToPath(new URL(`results/${date}-leak.svg`, import.meta.url)), svg);
}

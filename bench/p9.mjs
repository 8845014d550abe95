// SPDX-License-Identifier: MPL-2.0

// P9: 50 receivers of one sender at once, beside the same 50 one after another: from the first command typed to the last exited.
import { rm } from 'node:fs/promises';
import { startReceive, startSend } from './peers.mjs';
import { assertEqual } from './workspace.mjs';

const RECEIVERS = 50;
/** All copies together stay below what the kernel starts writing back by itself, else the disk is measured. */
const BYTES = 50 * 2 ** 20;
const BAR_RATIO = 1.3;
const BAR_RSS_BYTES = 400 * 2 ** 20;
const AT_ONCE = `${RECEIVERS} receivers at once`;
const IN_TURN = `${RECEIVERS} receivers one after another`;

export async function prepare(workspace) {
  const source = await workspace.randomFile('movie.mkv', workspace.scaled(BYTES));
  return {
    title: `${RECEIVERS} receivers of one sender, 50 MiB each, first command typed to last exited`,
    runs: 3,
    cases: [
      { name: IN_TURN, run: () => serve(workspace, source, receiveInTurn) },
      { name: AT_ONCE, run: () => serve(workspace, source, receiveAtOnce) },
    ],
    bars(summary) {
      const atOnce = summary.get(AT_ONCE);
      const ratio = atOnce.median / summary.get(IN_TURN).median;
      return [
        { text: `all ${RECEIVERS} complete and equal`, met: true }, // anything else has ended the row
        {
          text: `${(atOnce.rss / 2 ** 20).toFixed(0)} MiB peak RSS of the sender, bar 400`,
          met: atOnce.rss <= BAR_RSS_BYTES,
        },
        { text: `${ratio.toFixed(2)} x one after another, bar ${BAR_RATIO}`, met: ratio <= BAR_RATIO },
      ];
    },
    close: () => rm(source),
  };
}

/** One sender and its receivers; peak RSS is the sender's. */
async function serve(workspace, source, receive) {
  const sender = startSend(workspace, source, { receivers: RECEIVERS });
  await sender.said('waiting');
  const { seconds, received } = await receive(workspace, source, sender.code);
  const sent = await sender.report();
  return { seconds, cpu: received.reduce((sum, { cpu }) => sum + cpu, sent.cpu), rss: sent.rss };
}

async function receiveAtOnce(workspace, source, code) {
  const outs = Array.from({ length: RECEIVERS }, (_, i) => workspace.path(`in-${i}`));
  const started = performance.now();
  const received = await Promise.all(outs.map((out) => startReceive(workspace, code, out).report()));
  const seconds = (performance.now() - started) / 1000;
  for (const out of outs) await compareAndRemove(source, out);
  return { seconds, received };
}

async function receiveInTurn(workspace, source, code) {
  const out = workspace.path('in');
  const received = [];
  let seconds = 0;
  for (let i = 0; i < RECEIVERS; i++) {
    const started = performance.now();
    received.push(await startReceive(workspace, code, out).report());
    seconds += (performance.now() - started) / 1000;
    await compareAndRemove(source, out);
  }
  return { seconds, received };
}

async function compareAndRemove(source, out) {
  await assertEqual(source, `${out}/movie.mkv`);
  await rm(out, { recursive: true });
}

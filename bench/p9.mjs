// SPDX-License-Identifier: MPL-2.0

// P9: 50 receivers of one sender at once, beside the same 50 one after another. Each receiver's program loads before
// its time begins, so neither case counts the start of Node.
import { rm } from 'node:fs/promises';
import { bundled } from './bundled.mjs';
import { startSend } from './peers.mjs';
import { assertEqual } from './workspace.mjs';

const RECEIVERS = 50;
/** All copies together stay below the kernel's limit for writeback, else the row would measure the disk. */
const BYTES = 50 * 2 ** 20;
const BAR_RATIO = 1.3;
const BAR_RSS_BYTES = 400 * 2 ** 20;
const AT_ONCE = `${RECEIVERS} receivers at once`;
const IN_TURN = `${RECEIVERS} receivers one after another`;

export async function prepare(workspace) {
  const program = await bundled('ready-receiver.mjs');
  const source = await workspace.randomFile('movie.mkv', workspace.scaled(BYTES));
  return {
    title: `${RECEIVERS} receivers of one sender, 50 MiB each, all programs loaded to last file in place`,
    runs: 3,
    cases: [
      { name: IN_TURN, run: () => serve(workspace, program, source, receiveInTurn) },
      { name: AT_ONCE, run: () => serve(workspace, program, source, receiveAtOnce) },
    ],
    bars(summary) {
      const atOnce = summary.get(AT_ONCE);
      const ratio = atOnce.median / summary.get(IN_TURN).median;
      return [
        { text: `all ${RECEIVERS} complete and equal`, met: true }, // any failure has already ended the row
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

/** One sender and its receivers. The peak RSS is that of the sender; CPU includes the start of each program. */
async function serve(workspace, program, source, receive) {
  const sender = startSend(workspace, source, { receivers: RECEIVERS });
  await sender.said('waiting');
  const ready = (out) => readyReceiver(workspace, program, sender.code, out);
  const { seconds, received } = await receive(workspace, source, ready);
  const sent = await sender.report();
  return { seconds, cpu: received.reduce((sum, { cpu }) => sum + cpu, sent.cpu), rss: sent.rss };
}

/** Starts a receiver and waits until it has loaded. `receive()` resolves when its file is in place. */
async function readyReceiver(workspace, program, code, out) {
  const receiver = workspace.start(process.execPath, [program, code, out], {}, 'pipe');
  await receiver.line(/^ready$/);
  const receive = async () => {
    const done = receiver.line(/^done$/);
    receiver.child.stdin.write('\n');
    await done;
  };
  return { receive, report: receiver.report };
}

async function receiveAtOnce(workspace, source, ready) {
  const outs = Array.from({ length: RECEIVERS }, (_, i) => workspace.path(`in-${i}`));
  const receivers = await Promise.all(outs.map(ready));
  const started = performance.now();
  await Promise.all(receivers.map(({ receive }) => receive()));
  const seconds = (performance.now() - started) / 1000;
  const received = await Promise.all(receivers.map(({ report }) => report()));
  for (const out of outs) await compareAndRemove(source, out);
  return { seconds, received };
}

async function receiveInTurn(workspace, source, ready) {
  const out = workspace.path('in');
  const received = [];
  let seconds = 0;
  for (let i = 0; i < RECEIVERS; i++) {
    const receiver = await ready(out);
    const started = performance.now();
    await receiver.receive();
    seconds += (performance.now() - started) / 1000;
    received.push(await receiver.report());
    await compareAndRemove(source, out);
  }
  return { seconds, received };
}

async function compareAndRemove(source, out) {
  await assertEqual(source, `${out}/movie.mkv`);
  await rm(out, { recursive: true });
}

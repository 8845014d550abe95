// SPDX-License-Identifier: MPL-2.0

// P10: a million files, half empty, half of 100 bytes: when the first is in place, the resources used, and how soon a
// killed receiver continues.
import { randomFillSync } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { startReceive, startSend, transferOnce } from './peers.mjs';
import { pidOf } from './resident.mjs';
import { copyCase } from './trees.mjs';
import { assertEqual } from './workspace.mjs';

const FOLDERS = 1000;
/** The fewest folders with which a smoke test can still kill a receiver in the middle. */
const LEAST_FOLDERS = 30;
const FILES_EACH = 1000;
const FILE_BYTES = 100;
const BAR_FIRST_SECONDS = 1;
const BAR_RSS_BYTES = 600 * 2 ** 20;
const BAR_RESUME_SECONDS = 5;
const WHOLE = 'KeibiDrop';
const RESUMED = 'KeibiDrop, the rest after kill -9 of the receiver at half';

export async function prepare(workspace) {
  const folders = Math.max(LEAST_FOLDERS, workspace.scaled(FOLDERS));
  const source = tinyTree(workspace.path('million'), folders);
  return {
    title: `${(folders * FILES_EACH).toLocaleString('en')} files of 0 or 100 bytes, session up to done`,
    runs: 1,
    warmUp: false,
    cases: [
      copyCase(workspace, 'cp -r', source),
      { name: WHOLE, run: () => sendWhole(workspace, source) },
      { name: RESUMED, run: () => sendInTwo(workspace, source, (folders * FILES_EACH) / 2) },
    ],
    bars: (_, samples) => bars(samples.get(WHOLE).at(-1), samples.get(RESUMED).at(-1)),
    close: () => rm(source, { recursive: true }),
  };
}

function bars(whole, resumed) {
  const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(0);
  const within = (what, { session, typed }, bar) => ({
    text: `${what} ${session.toFixed(2)} s after the session was up, ${typed.toFixed(2)} s after the command was typed, bar ${bar} s`,
    met: typed <= bar,
  });
  return [
    within('the first files stood', whole.firstFile, BAR_FIRST_SECONDS),
    {
      text: `${mebibytes(whole.senderRss)} MiB peak RSS of the sender, ${mebibytes(whole.rss)} of the larger side, bar 600`,
      met: whole.rss <= BAR_RSS_BYTES,
    },
    within('after kill -9 the first new file stood', resumed.firstFile, BAR_RESUME_SECONDS),
  ];
}

/** Folders three deep, for long paths. Synchronous, because a million promises take longer than a million files. */
function tinyTree(root, folders) {
  const content = randomFillSync(Buffer.alloc(FILE_BYTES));
  for (let folder = 0; folder < folders; folder++) {
    const path = `${root}/${Math.floor(folder / 100)}/${Math.floor(folder / 10) % 10}/folder ${folder % 10}`;
    mkdirSync(path, { recursive: true });
    for (let i = 0; i < FILES_EACH; i++) {
      const file = openSync(`${path}/file ${i}`, 'w');
      if (i % 2 === 1) writeSync(file, content);
      closeSync(file);
      content.writeUInt32LE(i);
    }
  }
  return root;
}

/** Seconds to the first event that `counts`, from the command typed and from the start of the session. */
async function firstOf(receiver, at) {
  const connected = await receiver.said('connected');
  return { typed: await at, session: (await at) - connected.at };
}

function whenFirst(test) {
  let settle;
  const at = new Promise((resolve) => {
    settle = resolve;
  });
  return { at, onEvent: (event, seconds) => test(event) && settle(seconds) };
}

async function sendWhole(workspace, source) {
  const out = workspace.path('in');
  const { at, onEvent } = whenFirst(({ event, files }) => event === 'progress' && files > 0);
  let firstFile;
  const watch = ({ receiver }) => {
    firstFile = firstOf(receiver, at);
  };
  const { done, sent, cpu, rss } = await transferOnce(workspace, source, out, { receive: { onEvent }, watch });
  await compareAndRemove(workspace, source, out);
  return { seconds: done.seconds, cpu, rss, senderRss: sent.rss, firstFile: await firstFile };
}

/** Kills the first receiver at `half` files and times the second. One sender serves both. */
async function sendInTwo(workspace, source, half) {
  const out = workspace.path('in');
  const sender = startSend(workspace, source);
  await sender.said('waiting');
  const reached = whenFirst(({ event, files }) => event === 'progress' && files >= half);
  const killed = startReceive(workspace, sender.code, out, { onEvent: reached.onEvent });
  const ended = new Promise((resolve) => killed.child.once('exit', resolve));
  await Promise.race([reached.at, ended]);
  process.kill(pidOf(killed), 'SIGKILL');
  await ended;

  // --verbose lists each new file, and none that was there already.
  const { at, onEvent } = whenFirst(({ event }) => event === 'file');
  const receiver = startReceive(workspace, sender.code, out, { args: ['--verbose'], onEvent });
  const done = await receiver.said('done');
  const [sent, received] = await Promise.all([sender.report(), receiver.report()]);
  await compareAndRemove(workspace, source, out);
  const { seconds, files, skipped } = done;
  const rss = Math.max(sent.rss, received.rss);
  return { seconds, cpu: received.cpu, rss, files, skipped, firstFile: await firstOf(receiver, at) };
}

async function compareAndRemove(workspace, source, out) {
  await assertEqual(source, `${out}/million`);
  await workspace.discard(out);
}

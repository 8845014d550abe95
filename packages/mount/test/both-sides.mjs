// SPDX-License-Identifier: MPL-2.0
import fs from 'node:fs';
import { Worker } from 'node:worker_threads';

// Two programs on the two sides of one mounted folder write lines to one file.
// `node both-sides.mjs WAY MOUNTED SHARED AMOUNT` prints as JSON which lines arrived.

const [way, mounted, shared, amount] = process.argv.slice(2);
const NAME = `${way}.log`;
const HEAD = 4096;
const APPEND_EVERY_MS = 20;
const OVERWRITE_EVERY_MS = 150;
/** Bytes behind the head that the guest reads while the sharer appends them. */
const MORE = 500;
const lineOf = (writer, number) => `${writer} ${String(number).padStart(6, '0')}\n`;
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** As one program does: opened, written, synced and closed. */
function change(folder, flags, work) {
  const file = fs.openSync(`${folder}/${NAME}`, flags);
  try {
    work(file);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** The sharer announces a new name within a second; wait for it. */
function begin(content) {
  fs.writeFileSync(`${shared}/${NAME}`, content);
  while (!fs.existsSync(`${mounted}/${NAME}`)) pause(10);
}

function found() {
  const copies = fs.readdirSync(shared).filter((name) => name.includes('(conflict')).length;
  return { copies, lines: fs.readFileSync(`${shared}/${NAME}`, 'latin1') };
}

/** The two take turns, and each sees the other's writes. */
function inTurns(turns) {
  begin('');
  let expected = '';
  let unseen = 0;
  for (let number = 0; number < turns; number++) {
    const [writer, folder, other] = number % 2 === 0 ? ['sharer', shared, mounted] : ['guest', mounted, shared];
    const line = lineOf(writer, number);
    change(folder, 'a', (file) => fs.writeSync(file, line));
    expected += line;
    if (fs.readFileSync(`${other}/${NAME}`, 'latin1') !== expected) unseen++;
  }
  const { copies, lines } = found();
  return { same: lines === expected, copies, unseen };
}

/** A program that appends to one file all the time. */
class Appender {
  #worker;

  constructor() {
    this.#worker = new Worker(
      `const { workerData, parentPort } = require('node:worker_threads');
       const fs = require('node:fs');
       const file = fs.openSync(workerData.path, 'a');
       let number = 0;
       const timer = setInterval(() => fs.writeSync(file, 'sharer ' + String(number++).padStart(6, '0') + '\\n'), workerData.everyMs);
       parentPort.once('message', () => { clearInterval(timer); fs.closeSync(file); parentPort.postMessage(number); parentPort.close(); });`,
      { eval: true, workerData: { path: `${shared}/${NAME}`, everyMs: APPEND_EVERY_MS } },
    );
  }

  /** @returns  how many lines it has appended */
  end() {
    return new Promise((resolve) => {
      this.#worker.once('message', resolve);
      this.#worker.postMessage('end');
    });
  }
}

/** A guest that reads a file which grows all the while, as `tail -f` and players do. */
async function whileItGrows(seconds) {
  const head = Buffer.alloc(3 * 2 ** 20, 'recorded before. ');
  begin(head);
  const appender = new Appender();
  const failed = {};
  const read = Buffer.alloc(2 ** 24);
  let at = 0;
  const file = fs.openSync(`${mounted}/${NAME}`, 'r');
  const enough = head.length + MORE;
  for (const began = performance.now(); at < enough && performance.now() - began < seconds * 1000; pause(10)) {
    try {
      // Slowly, so that it has grown before the old end is reached.
      at += fs.readSync(file, read, at, 40_000, at);
    } catch (failure) {
      failed[failure.code] = (failed[failure.code] ?? 0) + 1;
    }
  }
  await appender.end();
  fs.closeSync(file);
  const there = fs.readFileSync(`${shared}/${NAME}`).subarray(0, at);
  return { failed, right: at >= enough && there.equals(read.subarray(0, at)), bytes: at };
}

/** A program that appends to one file all the time, and a guest that writes the head of it. */
async function atOnce(seconds) {
  begin(Buffer.alloc(HEAD, '-'));
  const appender = new Appender();
  let written = 0;
  const refused = {};
  for (const began = performance.now(); performance.now() - began < seconds * 1000; pause(OVERWRITE_EVERY_MS)) {
    try {
      change(mounted, 'r+', (file) => fs.writeSync(file, Buffer.alloc(HEAD, `${written % 10}`), 0, HEAD, 0));
      written++;
    } catch (failure) {
      refused[failure.code] = (refused[failure.code] ?? 0) + 1;
    }
  }
  const appended = await appender.end();
  const { copies, lines } = found();
  let lost = 0;
  for (let number = 0; number < appended; number++) lost += lines.includes(lineOf('sharer', number)) ? 0 : 1;
  return { written, refused, appended, lost, copies };
}

const WAYS = { turns: inTurns, 'at-once': atOnce, grows: whileItGrows };
console.log(JSON.stringify(await WAYS[way](Number(amount))));

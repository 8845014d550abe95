// SPDX-License-Identifier: MPL-2.0

// write-records.mjs: writes records in the current directory until it is killed, in the ways of programs that must not
// lose any. Prints JSON lines: each record that fsync has acknowledged, and each refusal with its duration in ms.
// Retries the same record after a refusal.
//   log     appended to a file that stays open
//   block   over one of 64 blocks of one file
//   state   a new file, fsynced and renamed over another
import * as fs from 'node:fs';
import { recordOf } from './known-bytes.mjs';

const RECORD = 4096;
const BLOCKS = 64;
const STATE = 20_000;
const PAUSE_MS = 200;

const flags = fs.constants.O_CREAT | fs.constants.O_RDWR;
const log = fs.openSync('log', flags, 0o644);
const blocks = fs.openSync('block', flags, 0o644);
const report = (event) => fs.writeSync(1, `${JSON.stringify(event)}\n`);
let logged = 0;

const WAYS = {
  log(number) {
    fs.writeSync(log, recordOf(number, RECORD), 0, RECORD, logged * RECORD);
    fs.fsyncSync(log);
    return { at: logged++ };
  },
  block(number) {
    const at = (number * 7) % BLOCKS;
    fs.writeSync(blocks, recordOf(number, RECORD), 0, RECORD, at * RECORD);
    fs.fsyncSync(blocks);
    return { at };
  },
  state(number) {
    const file = fs.openSync('state.new', flags | fs.constants.O_TRUNC, 0o644);
    try {
      fs.writeSync(file, recordOf(number, STATE));
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync('state.new', 'state');
    return { at: 0 };
  },
};
const ways = Object.entries(WAYS);

for (let number = 1; ; ) {
  const [way, write] = ways[number % ways.length];
  const began = performance.now();
  try {
    const { at } = write(number);
    report({ event: 'kept', way, at, number, ms: performance.now() - began });
    number++;
  } catch (failure) {
    report({ event: 'refused', way, number, code: failure.code, ms: performance.now() - began });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}

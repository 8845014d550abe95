// SPDX-License-Identifier: MPL-2.0

// read-known.mjs FILES RECORDS: reads random pieces of the files `known-0`, `known-1`, … in the current directory until
// it is killed. Each file has RECORDS records of 64 KiB. Prints JSON lines: each refusal with its duration in ms, each
// wrong record, and the count of right ones.
import * as fs from 'node:fs';
import { numberOf } from './known-bytes.mjs';

const RECORD = 65_536;
const PAUSE_MS = 200;
const [files, records] = process.argv.slice(2).map(Number);
const report = (event) => fs.writeSync(1, `${JSON.stringify(event)}\n`);
const bytes = Buffer.alloc(RECORD);
let right = 0;

for (let turn = 0; ; turn++) {
  const began = performance.now();
  let file;
  try {
    // Without O_DIRECT the page cache would answer most reads.
    file = fs.openSync(`known-${turn % files}`, fs.constants.O_RDONLY | fs.constants.O_DIRECT);
    for (let i = 0; i < 16; i++) {
      const record = Math.floor(Math.random() * records);
      const began = performance.now();
      const count = fs.readSync(file, bytes, 0, RECORD, record * RECORD);
      if (count !== RECORD || numberOf(bytes) !== record + (turn % files) * records)
        report({ event: 'wrong', file: turn % files, record, count });
      else if (++right % 100 === 0) report({ event: 'right', right, ms: performance.now() - began });
    }
  } catch (failure) {
    report({ event: 'refused', code: failure.code, ms: performance.now() - began });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  } finally {
    try {
      if (file !== undefined) fs.closeSync(file);
    } catch {
      // a failed close does not matter here
    }
  }
}

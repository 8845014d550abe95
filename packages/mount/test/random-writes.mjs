// SPDX-License-Identifier: MPL-2.0

// random-writes.mjs FOLDER SHARED SEED MS: changes a file in a mounted folder in all ways, holds it against a copy in memory, and after each fsync
// the shared one, too. Prints `same` at the end.
import * as fs from 'node:fs';
import { join } from 'node:path';

const [, , folder, shared, seed, ms] = process.argv;
const MOST_BYTES = 500_000;
let state = Number(seed) * 2654435761 + 1;
/** A whole number below `bound` (mulberry32). */
function random(bound) {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * bound);
}

let expected = Buffer.alloc(0);
let name = `random-${seed}`;
let file = fs.openSync(join(folder, name), 'w+');
const steps = [];

function resize(size) {
  const next = Buffer.alloc(size);
  expected.copy(next, 0, 0, Math.min(size, expected.length));
  expected = next;
}

function bytes() {
  return Buffer.from(Array.from({ length: 1 + random([10, 3000, 90_000][random(3)]) }, () => random(256)));
}

function compare(found, what) {
  if (found.equals(expected)) return;
  const at = found.findIndex((byte, i) => byte !== expected[i]);
  console.log(
    `${what}: ${found.length} bytes, not ${expected.length}, other from ${at} on; ${steps.slice(-20).join(' ')}`,
  );
  process.exit(1);
}

const OPERATIONS = {
  write() {
    const [what, at] = [bytes(), random(MOST_BYTES)];
    if (expected.length < at + what.length) resize(at + what.length);
    what.copy(expected, at);
    fs.writeSync(file, what, 0, what.length, at);
  },
  append() {
    const what = bytes();
    expected = Buffer.concat([expected, what]);
    fs.appendFileSync(join(folder, name), what);
  },
  read() {
    const [at, some] = [random(expected.length + 1), Buffer.alloc(1 + random(100_000))];
    const got = fs.readSync(file, some, 0, some.length, at);
    if (!some.subarray(0, got).equals(expected.subarray(at, at + some.length))) compare(Buffer.alloc(0), `read ${at}`);
  },
  truncate() {
    resize(random(MOST_BYTES));
    fs.ftruncateSync(file, expected.length);
  },
  sync() {
    fs.fsyncSync(file);
    compare(fs.readFileSync(join(shared, name)), 'after fsync there');
  },
  reopen() {
    fs.closeSync(file);
    if (random(3) === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, random(200));
    file = fs.openSync(join(folder, name), 'r+');
  },
  empty() {
    fs.closeSync(file);
    expected = Buffer.alloc(0);
    file = fs.openSync(join(folder, name), 'w+');
  },
  move() {
    const to = `random-${seed}${['', 'a', 'b'][random(3)]}`;
    fs.renameSync(join(folder, name), join(folder, to));
    name = to;
  },
  time() {
    const at = random(1_000_000_000);
    fs.utimesSync(join(folder, name), at, at);
    if (Math.floor(fs.statSync(join(folder, name)).mtimeMs / 1000) !== at) compare(Buffer.alloc(0), 'time');
  },
  look() {
    compare(fs.readFileSync(join(folder, name)), 'now');
  },
};
const often = ['write', 'write', 'write', 'write', 'read', 'read', 'truncate', ...Object.keys(OPERATIONS)];

for (const end = Date.now() + Number(ms); Date.now() < end; ) {
  const step = often[random(often.length)];
  steps.push(step);
  OPERATIONS[step]();
}
OPERATIONS.sync();
fs.closeSync(file);
console.log('same');

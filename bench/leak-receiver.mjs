// SPDX-License-Identifier: MPL-2.0

// leak-receiver CODE OUT COUNT - receives COUNT times with one code through packages/peer in this process, each time
// into a new OUT. Every tenth time it prints the JavaScript heap's size as JSON and waits for a line on stdin.
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { receive } from '../packages/peer/src/index.ts';
import { parseCode } from '../packages/protocol/src/index.ts';

const EVERY = 10;
const [code, out, count] = process.argv.slice(2);
const answers = createInterface(process.stdin)[Symbol.asyncIterator]();

for (let transfers = 1; transfers <= Number(count); transfers++) {
  const { failed } = await receive({
    code: parseCode(code),
    out,
    collisions: 'rename',
    reach: { discovery: 'off', directOnly: false },
    label: 'leak',
    signal: new AbortController().signal,
    onEvent: () => {},
  });
  if (failed.length > 0) throw new Error(`${failed.length} entries failed`);
  // The last result stays for the comparison.
  if (transfers < Number(count)) await rm(out, { recursive: true });
  if (transfers % EVERY !== 0) continue;
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  console.log(JSON.stringify({ transfers, heapUsed, external, arrayBuffers }));
  await answers.next();
}
process.exit();

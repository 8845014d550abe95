// SPDX-License-Identifier: MPL-2.0

// ready-receiver CODE OUT - loads packages/peer, prints `ready`, waits for a line on stdin, then receives once into
// OUT. A benchmark can thus leave out the start of the program.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { receive } from '../packages/peer/src/index.ts';
import { parseCode } from '../packages/protocol/src/index.ts';

const [code, out] = process.argv.slice(2);
const input = createInterface(process.stdin);
console.log('ready');
await once(input, 'line');
const { failed } = await receive({
  code: parseCode(code),
  out,
  collisions: 'rename',
  reach: { discovery: 'off', directOnly: false },
  label: 'ready',
  signal: new AbortController().signal,
  onEvent: () => {},
});
if (failed.length > 0) throw new Error(`${failed.length} entries failed`);
console.log('done');
process.exit();

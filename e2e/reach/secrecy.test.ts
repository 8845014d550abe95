// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CODE, exitsOf, Sandbox } from '../harness/sandbox.ts';
import { writeRandom } from '../harness/tree.ts';
import { ManInTheMiddle } from '../wire/man-in-the-middle.ts';
import { secretsFoundIn } from '../wire/secrets.ts';
import { CONTENT, FILE_NAME } from '../wire/through-proxy.ts';
import { receiveAt, sendAt, startRelay } from './away.ts';

const LANES = 3;
const LARGE_BYTES = 5 * 2 ** 20;

let room: Sandbox;
let recorder: ManInTheMiddle;
beforeEach(async () => {
  room = await Sandbox.open();
  recorder = await ManInTheMiddle.open((await startRelay(room)).port);
});
afterEach(async () => {
  await room.close();
  await recorder.close();
});

it('the server of a rendezvous and relay sees no word of the code, no name, no content and no label', async () => {
  await mkdir(room.path('offer'));
  await writeFile(room.path('offer', FILE_NAME), CONTENT.repeat(20));
  await writeRandom(room.path('offer', 'large'), LARGE_BYTES);
  const server = `127.0.0.1:${recorder.port}`;
  const env = { KD_LANES: String(LANES) };
  const sender = await sendAt(server, room, ['offer', '--relay-only']);
  const receiver = await receiveAt(server, room, ['--relay-only'], env);
  expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });

  // A mailbox for each side; a control connection and lanes for each side, and the spare connection that the sender
  // keeps.
  expect(recorder.of('rendezvous')).toHaveLength(2);
  expect(recorder.of('relay').length).toBeGreaterThanOrEqual(2 * (1 + LANES));
  expect(recorder.bytes.length).toBeGreaterThan(2 * LARGE_BYTES);
  // The search finds plaintext: the mailbox (PROTOCOL 2.2), and the preambles inside the relayed connections.
  const wire = recorder.bytes;
  expect(wire.includes(createHash('sha256').update('KeibiDrop mailbox v1').update('7').digest())).toBe(true);
  for (const preamble of ['KEIBI-R1', 'KEIBI-C1', 'KEIBI-L1']) expect(wire.includes(preamble)).toBe(true);
  const [, ...words] = CODE.split('-');
  expect(
    secretsFoundIn(wire, [...words, CODE, FILE_NAME, CONTENT, hostname(), 'keibidrop.peer.v1', 'Transfer']),
  ).toEqual([]);
});

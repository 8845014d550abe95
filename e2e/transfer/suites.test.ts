// SPDX-License-Identifier: MPL-2.0
import { afterEach, beforeEach, expect, it } from 'vitest';
import { exitsOf, lastOf, Sandbox } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';

const AES = 'aes-256-gcm';
const CHACHA = 'chacha20-poly1305';
const WITHOUT_AES = { KD_NO_HARDWARE_AES: '1' };
const forced = (suite: string) => ['--suite', suite];

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
  await writeSmallFiles(room.path('source'), 20);
  await writeRandom(room.path('source', 'large'), (3 << 20) + 1);
});
afterEach(() => room.close());

it.each([
  ['forced on both sides', AES, { send: forced(AES), receive: forced(AES) }],
  ['forced on both sides', CHACHA, { send: forced(CHACHA), receive: forced(CHACHA) }],
  ['forced by the sender', CHACHA, { send: forced(CHACHA) }],
  ['forced by the receiver', CHACHA, { receive: forced(CHACHA) }],
  ['forced by one without hardware AES', AES, { send: forced(AES), sendEnv: WITHOUT_AES }],
  ['negotiated with a sender without hardware AES', CHACHA, { sendEnv: WITHOUT_AES }],
  ['negotiated with a receiver without hardware AES', CHACHA, { receiveEnv: WITHOUT_AES }],
  ['negotiated by two without hardware AES', CHACHA, { sendEnv: WITHOUT_AES, receiveEnv: WITHOUT_AES }],
])('%s: both sides report %s, and the trees are equal', async (_, suite, how: How) => {
  const { sender, receiver } = await both(how);
  expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
  for (const side of [sender, receiver]) expect(await side.until('connected')).toMatchObject({ suite });
  expect(await readTree(room.path('out'))).toEqual(await sourceTree());
});

it('two different forced suites end both sides with a named error and 3, and nothing is written', async () => {
  const { sender, receiver } = await both({ send: forced(AES), receive: forced(CHACHA) });
  expect(await receiver.ended).toBe(3);
  expect(lastOf(receiver)).toMatchObject({ event: 'error', code: 'HANDSHAKE_NO_COMMON_SUITE' });
  // The offer stays open for a receiver with a common suite.
  const again = await room.receive(['--out', 'out', ...forced(AES)]);
  expect(await exitsOf({ sender, receiver: again })).toEqual({ sender: 0, receiver: 0 });
  expect(await readTree(room.path('out'))).toEqual(await sourceTree());
});

it.each([AES, CHACHA])('a transfer with new keys every MiB works over four lanes, with %s', async (suite) => {
  await writeRandom(room.path('source', 'larger'), 24 << 20);
  const env = { KD_REKEY_BYTES: `${1 << 20}`, KD_LANES: '4' };
  const { sender, receiver } = await both({ send: forced(suite), sendEnv: env, receiveEnv: env });
  expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
  expect(await readTree(room.path('out'))).toEqual(await sourceTree());
});

interface How {
  send?: string[];
  receive?: string[];
  sendEnv?: Record<string, string>;
  receiveEnv?: Record<string, string>;
}

async function both({ send = [], receive = [], sendEnv = {}, receiveEnv = {} }: How) {
  const { sender } = await room.send(['source', ...send], { env: sendEnv });
  return { sender, receiver: await room.receive(['--out', 'out', ...receive], { env: receiveEnv }) };
}

async function sourceTree() {
  const tree = await readTree(room.home);
  return new Map([...tree].filter(([path]) => /^source(\/|$)/.test(path)));
}

// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { createRecordedIo } from '../../test/recorded-io.ts';
import { createScriptedPeer } from '../../test/scripted-peer.ts';
import { command } from './peers.ts';

const senders = [
  { path: 'local', address: '127.0.0.1:26431' } as const,
  { path: 'lan', name: '2b21cfeab582acf1', address: '10.77.0.1:26431' } as const,
  { path: 'lan', name: '2b21cfeab582acf1', address: '[fe80::7%eth0]:26431' } as const,
];

it('peers lists each address and counts the senders', async () => {
  const io = createRecordedIo({ env: { KD_DISCOVERY: 'auto' } });
  expect(await command.run({}, io, async () => createScriptedPeer({ senders }).peer)).toBe(0);
  expect(io.printed.stdout.split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual([
    'local 127.0.0.1:26431',
    'lan 10.77.0.1:26431 2b21cfeab582acf1',
    'lan [fe80::7%eth0]:26431 2b21cfeab582acf1',
    '2 senders nearby.',
    '',
  ]);
});

it('peers --json prints one address a line, and the count', async () => {
  const io = createRecordedIo();
  await command.run({ json: true }, io, async () => createScriptedPeer({ senders }).peer);
  const lines = io.printed.stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    ...senders.map((sender) => ({ event: 'peer', ...sender })),
    { event: 'peers', senders: 2 },
  ]);
});

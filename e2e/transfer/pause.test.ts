// SPDX-License-Identifier: MPL-2.0
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { CODE, exitsOf, lastOf, Sandbox } from '../harness/sandbox.ts';
import { digestOf, writeRandom } from '../harness/tree.ts';

const MIB = 1 << 20;
const SIZE = 12 * MIB;
const RATE = ['--limit', '8M'];
/** Longer than the whole transfer takes. */
const LONG_MS = 2500;
const WELL = { sender: 0, receiver: 0 };

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
  await writeRandom(room.path('file'), SIZE);
});
afterEach(() => room.close());

const bytesAt = (running: Running) =>
  Number(running.events({ progress: true }).findLast(({ event }) => event === 'progress')?.bytes);

describe('the key p', () => {
  it('at the receiver pauses and resumes the transfer, and the sender reports it too', async () => {
    const { sender } = await room.send(['file', ...RATE]);
    const receiver = await room.startOnTerminal(['receive', CODE, '--yes', '--out', 'out']);
    await sender.until('progress', ({ bytes }) => (bytes as number) >= 2 * MIB);
    receiver.type('p');
    await receiver.shows(/Paused; press p to resume\./);
    expect(await sender.until('paused')).toEqual({ event: 'paused', paused: true, by: 'peer' });
    await sleep(LONG_MS);
    expect(bytesAt(sender)).toBeLessThan(SIZE);
    expect(lastOf(sender)?.event).toBe('paused');
    receiver.type('p');
    expect(await exitsOf({ sender, receiver })).toEqual(WELL);
    expect(sender.events().filter(({ event }) => event === 'paused')).toMatchObject([
      { paused: true },
      { paused: false },
    ]);
    expect(await digestOf(room.path('out', 'file'))).toBe(await digestOf(room.path('file')));
  });

  it('at the sender pauses the transfer, and the receiver stays connected', async () => {
    const sender = await room.startOnTerminal(['send', 'file', '--code', CODE, ...RATE, '--listen', '127.0.0.1:0']);
    await sender.shows(/Waiting/);
    const receiver = await room.receive(['--out', 'out'], { env: { KD_PATIENCE: '60s', KD_HEARTBEAT_MS: '300' } });
    await receiver.until('progress', ({ bytes }) => (bytes as number) >= 2 * MIB);
    sender.type('p');
    expect(await receiver.until('paused')).toEqual({ event: 'paused', paused: true, by: 'peer' });
    await sleep(LONG_MS);
    expect(bytesAt(receiver)).toBeLessThan(SIZE);
    expect(
      receiver.events().some(({ event }) => event === 'reconnecting'),
      'a pause is no silence',
    ).toBe(false);
    sender.type('p');
    expect(await exitsOf({ sender, receiver })).toEqual(WELL);
    expect(await digestOf(room.path('out', 'file'))).toBe(await digestOf(room.path('file')));
  });
});

describe('a terminal in key mode', () => {
  it.each([
    ['Ctrl-C', '\u0003', 130],
    ['Ctrl-C while it is paused', 'p\u0003', 130],
  ])('is restored after %s, which ends the command', async (_what, keys, exit) => {
    await room.send(['file', ...RATE]);
    const receiver = await room.startOnTerminal(['receive', CODE, '--yes', '--out', 'out'], 'echo "exit $?"; stty -a');
    await receiver.shows(/MB\/s/);
    receiver.type(keys);
    await receiver.shows(new RegExp(`exit ${exit}`));
    await receiver.ended;
    expect(receiver.stdout).toMatch(/ icanon /);
    expect(receiver.stdout).toMatch(/ echo /);
    expect(await readdir(room.path('out'))).toEqual(['.keibidrop-partial']);
  });
});

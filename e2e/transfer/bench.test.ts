// SPDX-License-Identifier: MPL-2.0
import { mkdir, readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { CODE, IS_ROOT, LISTEN, lastOf, Sandbox } from '../harness/sandbox.ts';

const MIB = 2 ** 20;
let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.open();
  for (const name of ['here', 'there']) await mkdir(sandbox.path(name));
});
afterEach(() => sandbox.close());

/** Names and parts of the events, in order. */
const reported = (running: Running) => running.events().map(({ event, part }) => (part === undefined ? event : part));
const rates = (running: Running) => running.events().filter(({ event }) => event === 'measured');

async function nothingIsLeft(): Promise<void> {
  for (const name of ['here', 'there']) expect(await readdir(sandbox.path(name))).toEqual([]);
  expect(await sandbox.announced()).toEqual([]);
}

async function wait(...args: string[]): Promise<Running> {
  const waiter = await sandbox.start([
    'bench',
    '--wait',
    '--dir',
    'there',
    '--json',
    '--code',
    CODE,
    ...LISTEN,
    ...args,
  ]);
  await waiter.until('waiting');
  return waiter;
}

const against = (code = CODE, ...args: string[]) => sandbox.start(['bench', code, '--dir', 'here', '--json', ...args]);

describe('bench alone', () => {
  it('measures every part, names the bottleneck, and leaves nothing behind', async () => {
    const bench = await sandbox.start(['bench', '--dir', 'here', '--size', '8M', '--json']);
    expect(await bench.ended).toBe(0);
    const parts = ['write', 'read', 'seal', 'open', 'seal', 'open', 'loopback', 'sha256', 'whole', 'wholeOnDisk'];
    expect(reported(bench)).toEqual(['start', ...parts, expect.any(String)]);
    for (const rate of rates(bench)) expect(rate.bytesPerSecond).toBeGreaterThan(0);
    expect(lastOf(bench)).toMatchObject({ event: 'limit', message: expect.stringMatching(/is the limit/) });
    expect(bench.stderr).toBe('');
    await nothingIsLeft();
  });

  it('ends with 130 on Ctrl-C, with its second process, and leaves nothing behind', async () => {
    const bench = await sandbox.start(['bench', '--dir', 'here', '--size', '64M', '--json']);
    await bench.until('measured', ({ part }) => part === 'sha256');
    bench.kill('SIGINT');
    expect(await bench.ended).toBe(130);
    await nothingIsLeft();
  });

  it.skipIf(!IS_ROOT)('writes nothing if the disk lacks the space', async () => {
    const small = await sandbox.mountTmpfs('small', 70 * MIB);
    const bench = await sandbox.start(['bench', '--dir', 'small', '--size', '8M', '--json']);
    expect(await bench.ended).toBe(1);
    expect(bench.events()).toMatchObject([{ event: 'error', code: 'TRANSFER_DISK_FULL' }]);
    expect(await readdir(small)).toEqual([]);
  });
});

describe('bench against a peer', () => {
  it('measures the path, both disks and the whole, and keeps nothing', async () => {
    const waiter = await wait('--size', '8M');
    const bench = await against();
    expect({ bench: await bench.ended, waiter: await waiter.ended }).toEqual({ bench: 0, waiter: 0 });
    const parts = ['roundTrip', 'link', 'peerRead', 'whole', 'write', 'read', 'seal', 'open'];
    expect(reported(bench)).toEqual(['connected', ...parts, expect.any(String)]);
    for (const rate of rates(bench)) expect(rate.bytesPerSecond).toBeGreaterThan(0);
    expect(lastOf(bench)).toMatchObject({ event: 'limit' });
    expect(lastOf(waiter)).toMatchObject({ event: 'done', files: 4, bytes: 26 * MIB });
    await nothingIsLeft();
  });

  it('keeps waiting after a wrong code and after a peer that left', async () => {
    const waiter = await wait('--size', '64M');
    const wrong = await against('7-wrong-words');
    expect(await wrong.ended).toBe(3);
    expect(lastOf(wrong)).toMatchObject({ code: 'CODE_WRONG' });
    const leaving = await against();
    await leaving.until('connected');
    leaving.kill('SIGINT');
    expect(await leaving.ended).toBe(130);
    await waiter.until('receiverLost');
    const bench = await against();
    expect({ bench: await bench.ended, waiter: await waiter.ended }).toEqual({ bench: 0, waiter: 0 });
    await nothingIsLeft();
  });

  it('accepts only a bench', async () => {
    const { sender } = await sandbox.send(['--text', 'secret']);
    const bench = await against();
    expect(await bench.ended).toBe(3);
    expect(lastOf(bench)).toMatchObject({ code: 'OFFER_DECLINED', message: expect.stringContaining('receive') });
    expect(bench.stdout).not.toContain('secret');
    expect(await sender.ended).toBe(3);
    await nothingIsLeft();
  });

  it.skipIf(!IS_ROOT)('reports that the disk here is too small before any data arrives', async () => {
    const waiter = await wait('--size', '8M');
    const small = await sandbox.mountTmpfs('small', 70 * MIB);
    const bench = await sandbox.start(['bench', CODE, '--dir', 'small', '--json']);
    expect(await bench.ended).toBe(1);
    expect(lastOf(bench)).toMatchObject({ code: 'TRANSFER_DISK_FULL' });
    expect(await readdir(small)).toEqual([]);
    waiter.kill('SIGINT');
    expect(await waiter.ended).toBe(130);
    await nothingIsLeft();
  });
});

// SPDX-License-Identifier: MPL-2.0
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CODE, exitsOf, lastOf, Sandbox } from '../harness/sandbox.ts';
import { digestOf, writeRandom } from '../harness/tree.ts';

const SUCCESS = { sender: 0, receiver: 0 };
const MIB = 1 << 20;
const LARGE = 16 * MIB;

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
});
afterEach(() => room.close());

describe('Ctrl-C in the middle of a transfer', () => {
  beforeEach(() => writeRandom(room.path('large'), LARGE));

  /** Both sides, with a few chunks on the receiver's disk. */
  async function halfWay() {
    const { sender } = await room.send(['large', '--limit', '12M']);
    const receiver = await room.receive(['--out', 'out']);
    await receiver.until('progress', ({ bytes }) => (bytes as number) >= 4 * MIB);
    return { sender, receiver };
  }

  it('at the receiver ends it with 130; the sender keeps waiting and serves the rest to the next run', async () => {
    const { sender, receiver } = await halfWay();
    receiver.kill('SIGINT');
    expect(await receiver.ended).toBe(130);
    expect(lastOf(receiver)).toMatchObject({ event: 'error', code: 'CANCELLED' });
    expect(await sender.until('receiverLost')).toMatchObject({
      code: expect.stringMatching(/^(CANCELLED|SESSION_CLOSED)$/),
    });
    expect(await readdir(room.path('out'))).toEqual(['.keibidrop-partial']);
    const again = await room.receive(['--out', 'out']);
    expect(await exitsOf({ sender, receiver: again })).toEqual(SUCCESS);
    const { bytes, resumedBytes } = lastOf(again) as unknown as { bytes: number; resumedBytes: number };
    expect(bytes).toBe(LARGE);
    // After an orderly end all received bytes are kept, not only those of the last periodic save.
    expect(resumedBytes).toBeGreaterThanOrEqual(4 * MIB);
    expect(await readdir(room.path('out'))).toEqual(['large']);
    expect(await digestOf(room.path('out', 'large'))).toBe(await digestOf(room.path('large')));
  });

  it('at the sender ends it with 130 and the receiver with 5; the same commands again complete it', async () => {
    const { sender, receiver } = await halfWay();
    sender.kill('SIGINT');
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 130, receiver: 5 });
    expect(lastOf(receiver)).toMatchObject({ event: 'error', code: 'SESSION_CLOSED' });
    expect(await room.announced()).toEqual([]);
    expect(await readdir(room.path('out'))).toEqual(['.keibidrop-partial']);
    const { exits, receiver: again } = await room.transfer(['large']);
    expect(exits).toEqual(SUCCESS);
    expect(lastOf(again)?.resumedBytes).toBeGreaterThanOrEqual(4 * MIB);
    expect(await readdir(room.path('out'))).toEqual(['large']);
    expect(await digestOf(room.path('out', 'large'))).toBe(await digestOf(room.path('large')));
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('or %s have the same effect on a receiver', async (signal) => {
    const { receiver } = await halfWay();
    receiver.kill(signal);
    expect(await receiver.ended).toBe(130);
  });

  it('before a receiver comes ends the sender with 130 and leaves nothing behind', async () => {
    const { sender } = await room.send(['large']);
    sender.kill('SIGINT');
    expect(await sender.ended).toBe(130);
    expect(await room.announced()).toEqual([]);
  });

  it('at the question ends the receiver with 130 and writes nothing; the sender keeps waiting', async () => {
    const { sender } = await room.send(['large']);
    const receiver = await room.startOnTerminal(['receive', CODE, '--out', 'out']);
    await receiver.shows(/\[y\/N\] $/);
    receiver.type('\u0003');
    expect(await receiver.ended).toBe(130);
    await sender.until('receiverLost');
    expect(await readdir(room.home)).not.toContain('out');
  });
});

describe('the question', () => {
  beforeEach(() => writeFile(room.path('file'), 'content'));

  it('shows the files, their size and the sender; yes receives them', async () => {
    const { sender } = await room.send(['file']);
    const receiver = await room.startOnTerminal(['receive', CODE, '--out', 'out']);
    await receiver.shows(
      / offers 1 file, 7 B .*\r?\n {2}file\r?\ninto .*\/out, where .* are free\.\r?\nReceive it\? \[y\/N\] $/,
    );
    expect(await readdir(room.home)).not.toContain('out');
    receiver.type('y\r');
    expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
    expect(await readFile(room.path('out', 'file'), 'utf8')).toBe('content');
  });

  it.each(['n\r', '\r', 'maybe\r', '\u0004'])(
    'answered with %j writes nothing and ends both sides with 3',
    async (answer) => {
      const { sender } = await room.send(['file']);
      const receiver = await room.startOnTerminal(['receive', CODE, '--out', 'out']);
      await receiver.shows(/\[y\/N\] $/);
      receiver.type(answer);
      expect(await exitsOf({ sender, receiver })).toEqual({ sender: 3, receiver: 3 });
      expect(lastOf(sender)).toMatchObject({ event: 'error', code: 'OFFER_DECLINED' });
      expect(await readdir(room.home)).not.toContain('out');
    },
  );

  it.each([[[]], [['--json']]])(
    'cannot be asked without a terminal: with %j and no --yes nothing is written',
    async (options) => {
      const { sender } = await room.send(['file']);
      const receiver = await room.start(['receive', CODE, '--out', 'out', ...options]);
      expect(await receiver.ended).toBe(2);
      expect(receiver.stdout + receiver.stderr).toMatch(/--yes/);
      expect(await readdir(room.home)).not.toContain('out');
      expect(sender.events().map(({ event }) => event)).toEqual(['code', 'waiting']);
    },
  );
});

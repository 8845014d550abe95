// SPDX-License-Identifier: MPL-2.0
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CODE, exitsOf, LISTEN, lastOf, Sandbox } from '../harness/sandbox.ts';

const SUCCESS = { sender: 0, receiver: 0 };
const SECONDS = expect.any(Number);

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
  await mkdir(room.path('folder'));
  await writeFile(room.path('folder', 'a'), 'content');
  await writeFile(room.path('folder', 'b'), 'more content');
});
afterEach(() => room.close());

describe('with --json', () => {
  it('both sides print the events of the contract in order, with exactly their fields', async () => {
    const { sender, port } = await room.send(['folder', '--verbose']);
    const receiver = await room.receive(['--connect', `127.0.0.1:${port}`, '--out', 'out', '--verbose']);
    expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
    const connected = {
      event: 'connected',
      path: 'local',
      suite: expect.stringMatching(/^(aes-256-gcm|chacha20-poly1305)$/),
      peer: expect.stringMatching(/./),
    };
    const offer = { event: 'offer', files: 2, bytes: 19 };
    const done = { event: 'done', files: 2, bytes: 19, skipped: 0, resumedBytes: 0, seconds: SECONDS };
    expect(sender.events()).toEqual([
      { event: 'code', code: CODE },
      { event: 'waiting', host: '127.0.0.1', port },
      connected,
      offer,
      done,
    ]);
    const received = receiver.events();
    expect(received.slice(0, 2)).toEqual([connected, offer]);
    expect(received.slice(2, 4).sort((a, b) => `${a.path}`.localeCompare(`${b.path}`))).toEqual([
      { event: 'file', path: 'folder/a' },
      { event: 'file', path: 'folder/b' },
    ]);
    expect(received.slice(4)).toEqual([done]);
    expect(receiver.stderr + sender.stderr).toBe('');
  });

  it('progress has the fields of the contract, never goes back, and ends at the total', async () => {
    await writeFile(room.path('folder', 'large'), Buffer.alloc(12 << 20));
    const { sender, receiver, exits } = await room.transfer(['folder'], { send: ['--limit', '16M'] });
    expect(exits).toEqual(SUCCESS);
    for (const side of [sender, receiver]) {
      const progress = side.events({ progress: true }).filter(({ event }) => event === 'progress');
      const number = expect.any(Number);
      const fields = { event: 'progress', files: number, bytes: number, totalBytes: number, bytesPerSecond: number };
      for (const { file: _, ...event } of progress) expect(event).toEqual(fields);
      expect(progress.map(({ file }) => file)).toContain('folder/large');
      const bytes = progress.map((event) => event.bytes as number);
      expect(bytes).toEqual([...bytes].sort((a, b) => a - b));
      expect(progress.at(-1)).toMatchObject({ files: 3, bytes: (12 << 20) + 19, totalBytes: (12 << 20) + 19 });
      expect(progress.length).toBeGreaterThan(2);
    }
  });

  it('an error is one line with code and message, and nothing is on standard error', async () => {
    const receiver = await room.receive();
    expect(await receiver.ended).toBe(4);
    expect(receiver.events()).toEqual([{ event: 'error', code: 'RENDEZVOUS_NOT_FOUND', message: expect.any(String) }]);
    expect(receiver.stderr).toBe('');
  });
});

describe('a chosen code', () => {
  it.each(['7-a-b', '1-hello-world', '1-love-you', '1-test-code'])(
    '%s, of fewer than 16 bits, is refused',
    async (code) => {
      const sender = await room.start(['send', 'folder', '--json', '--code', code, ...LISTEN]);
      expect(await sender.ended).toBe(2);
      expect(sender.events()).toEqual([{ event: 'error', code: 'CODE_TOO_WEAK', message: expect.any(String) }]);
      expect(await room.announced()).toEqual([]);
    },
  );

  it('is accepted with --insecure-code', async () => {
    const sender = await room.start(['send', 'folder', '--json', '--code', '7-a-b', '--insecure-code', ...LISTEN]);
    const { port } = await sender.until('waiting');
    const receiver = await room.start([
      'receive',
      '7-a-b',
      '--json',
      '--yes',
      '--connect',
      `127.0.0.1:${port}`,
      '--out',
      'out',
    ]);
    expect(await exitsOf({ sender, receiver })).toEqual(SUCCESS);
    expect(await readFile(room.path('out', 'folder', 'a'), 'utf8')).toBe('content');
  });

  it('that is malformed is refused', async () => {
    const sender = await room.start(['send', 'folder', '--json', '--code', 'seven-words', ...LISTEN]);
    expect(await sender.ended).toBe(2);
    expect(lastOf(sender)).toMatchObject({ event: 'error', code: 'CODE_MALFORMED' });
  });

  it('that another sender of this machine uses is refused, and the other keeps waiting', async () => {
    await room.send(['folder']);
    const second = await room.start(['send', 'folder', '--json', '--code', CODE, ...LISTEN]);
    expect(await second.ended).toBe(4);
    expect(lastOf(second)).toMatchObject({ event: 'error', code: 'RENDEZVOUS_BUSY' });
    const receiver = await room.receive(['--out', 'out']);
    expect(await receiver.ended).toBe(0);
  });
});

describe('several receivers', () => {
  it('are served in parallel and in sequence, and the sender ends after the requested number', async () => {
    await writeFile(room.path('folder', 'large'), Buffer.alloc(8 << 20, 'x'));
    const { sender } = await room.send(['folder', '--receivers', '3', '--limit', '8M']);
    const both = await Promise.all(['one', 'two'].map((out) => room.receive(['--out', out])));
    await Promise.all(both.map((receiver) => receiver.until('connected')));
    // Both are connected before either is done, so they are served in parallel.
    expect(both.map((receiver) => receiver.events().some(({ event }) => event === 'done'))).toEqual([false, false]);
    expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(lastOf(sender)?.event).toBe('receiverDone');
    const later = await room.receive(['--out', 'three']);
    expect(await exitsOf({ sender, receiver: later })).toEqual(SUCCESS);
    const done = sender.events().filter(({ event }) => event === 'receiverDone');
    expect(done.map(({ receiver }) => receiver).sort()).toEqual([1, 2, 3]);
    expect(lastOf(sender)).toMatchObject({ event: 'done', files: 9, bytes: 3 * ((8 << 20) + 19) });
    for (const out of ['one', 'two', 'three']) {
      expect(await readdir(room.path(out, 'folder'))).toEqual(['a', 'b', 'large']);
    }
  });

  it('without a limit are served until Ctrl-C', async () => {
    const { sender } = await room.send(['folder', '--receivers', '0']);
    for (const out of ['one', 'two']) expect(await (await room.receive(['--out', out])).ended).toBe(0);
    sender.kill('SIGINT');
    expect(await sender.ended).toBe(130);
  });

  it('beyond the requested number are rejected by name while the sender is busy', async () => {
    await writeFile(room.path('folder', 'large'), Buffer.alloc(8 << 20));
    const { sender } = await room.send(['folder', '--limit', '4M']);
    const first = await room.receive(['--out', 'one']);
    await first.until('connected');
    const second = await room.receive(['--out', 'two']);
    expect(await second.ended).toBe(4);
    expect(lastOf(second)).toMatchObject({ event: 'error', code: 'PEER_BUSY' });
    expect(await exitsOf({ sender, receiver: first })).toEqual(SUCCESS);
    expect(await readdir(room.home)).not.toContain('two');
  });
});

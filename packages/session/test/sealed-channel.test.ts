// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { FrameSealer } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import { describe, expect, it } from 'vitest';
import { openSealedChannel, type SealedChannel } from '../src/control/sealed-channel.ts';
import { agreedKeys, connectedSockets } from './loopback.ts';

async function pair(): Promise<[SealedChannel, SealedChannel]> {
  const sockets = await connectedSockets();
  const keys = agreedKeys();
  return [openSealedChannel(sockets[0], keys[0]), openSealedChannel(sockets[1], keys[1])];
}

const cancelled = () => new KeibiError('CANCELLED');

/** One real side, and a peer whose every byte the test chooses. */
async function withForger(): Promise<{ channel: SealedChannel; socket: Socket; seal(...bytes: number[]): Uint8Array }> {
  const [socket, accepted] = await connectedSockets();
  const [forged, ours] = agreedKeys();
  const sealer = new FrameSealer({ suite: forged.suite, key: forged.writeKey });
  socket.on('error', () => {}).resume();
  return {
    channel: openSealedChannel(accepted, ours),
    socket,
    seal: (...bytes) => sealer.seal(Uint8Array.from(bytes)),
  };
}

describe('two sealed channels', () => {
  it('carry bytes in both directions at once and end cleanly', async () => {
    const [left, right] = await pair();
    const sent = [0, 1, 2, 3].map((seed) => Buffer.alloc(300_000 + seed, seed));
    const ends = [left.channels[0], left.channels[1], right.channels[0], right.channels[1]];
    const received = ends.map((end) => buffer(end));
    for (const [index, end] of ends.entries()) end.end(sent[index]);
    const expected = [sent[2], sent[3], sent[0], sent[1]];
    for (const [index, bytes] of (await Promise.all(received)).entries()) {
      expect(bytes.equals(expected[index] as Buffer)).toBe(true);
    }
    expect(await left.closed).toBeUndefined();
    expect(await right.closed).toBeUndefined();
  });

  it('hold a writer back while the reader takes nothing, and lose nothing', async () => {
    const [left, right] = await pair();
    const total = 32 * 1024 * 1024;
    const finished = once(left.channels[0], 'finish').then(() => 'all was taken');
    left.channels[0].end(Buffer.alloc(total, 7));
    const heldBack = (async () => {
      for (let count = 0; count < 1000; count++) {
        right.channels[1].write('x');
        await once(left.channels[1], 'data');
      }
      return 'held back';
    })();
    expect(await Promise.race([finished, heldBack])).toBe('held back');
    expect(right.channels[0].readableLength).toBeLessThan(256 * 1024);
    expect((await buffer(right.channels[0])).equals(Buffer.alloc(total, 7))).toBe(true);
    expect(await finished).toBe('all was taken');
    left.destroy(cancelled());
    expect(await right.closed).toMatchObject({ code: 'SESSION_LOST' });
  });

  it('report the reason they were destroyed with, once', async () => {
    const [left, right] = await pair();
    const reason = cancelled();
    left.destroy(reason);
    left.destroy(cancelled());
    expect(await left.closed).toBe(reason);
    expect(await right.closed).toMatchObject({ code: 'SESSION_LOST' });
    expect(left.channels.every((channel) => channel.destroyed)).toBe(true);
  });

  it('drop bytes for a channel that was destroyed here, and end when the peer ends it', async () => {
    const [left, right] = await pair();
    right.channels[0].destroy();
    left.channels[0].end(Buffer.alloc(500_000));
    left.channels[1].end();
    right.channels[1].end();
    left.channels[0].resume();
    left.channels[1].resume();
    right.channels[1].resume();
    expect(await right.closed).toBeUndefined();
    expect(await left.closed).toBeUndefined();
  });
});

describe('a refused frame', () => {
  it('delivers the bytes before it and nothing after it', async () => {
    const { channel, socket, seal } = await withForger();
    const good = seal(0, 1, 2, 3);
    const bad = seal(0, 4, 5, 6);
    bad[bad.length - 1] = (bad[bad.length - 1] as number) ^ 1;
    const pieces: Buffer[] = [];
    channel.channels[0].on('data', (piece) => pieces.push(piece));
    socket.write(Buffer.concat([good, bad, seal(0, 7)]));
    expect(await channel.closed).toMatchObject({ code: 'FRAME_AUTH_FAILED' });
    expect(Buffer.concat(pieces).length).toBeLessThanOrEqual(3);
    expect(channel.channels[0].destroyed).toBe(true);
    await once(socket, 'close');
  });

  it.each<[string, string, (seal: (...bytes: number[]) => Uint8Array) => Uint8Array[]]>([
    ['FRAME_REPLAYED', 'the same frame twice', (seal) => Array(2).fill(seal(0, 1)) as Uint8Array[]],
    ['FRAME_REPLAYED', 'two frames exchanged', (seal) => [seal(0, 1), seal(0, 2)].reverse()],
    ['FRAME_REPLAYED', 'a frame left out', (seal) => [seal(0, 1), seal(0, 2)].slice(1)],
    ['FRAME_TOO_LARGE', 'a length over the limit', () => [Uint8Array.of(0x7f, 0xff, 0xff, 0xff)]],
    ['FRAME_TOO_LARGE', 'a length no frame can have', () => [Uint8Array.of(0, 0, 0, 1)]],
    ['FRAME_AUTH_FAILED', 'a channel there is not', (seal) => [seal(2, 1)]],
    ['FRAME_AUTH_FAILED', 'no channel at all', (seal) => [seal()]],
    ['FRAME_AUTH_FAILED', 'a channel that has ended', (seal) => [seal(1), seal(1, 9)]],
  ])('ends everything with %s: %s', async (code, _what, frames) => {
    const { channel, socket, seal } = await withForger();
    for (const each of channel.channels) each.resume();
    socket.write(Buffer.concat(frames(seal).map((frame) => Uint8Array.from(frame))));
    expect(await channel.closed).toMatchObject({ name: 'KeibiError', code });
    await once(socket, 'close');
  });
});

describe('a connection that ends early', () => {
  it.each([1, 4, 20])('is FRAME_TRUNCATED after %i bytes of a frame', async (length) => {
    const { channel, socket, seal } = await withForger();
    socket.end(seal(0, 1, 2, 3).subarray(0, length));
    expect(await channel.closed).toMatchObject({ code: 'FRAME_TRUNCATED' });
  });

  it('is SESSION_LOST between frames', async () => {
    const { channel, socket, seal } = await withForger();
    for (const each of channel.channels) each.resume();
    socket.end(Buffer.concat([seal(0, 1), seal(0)]));
    expect(await channel.closed).toMatchObject({ code: 'SESSION_LOST' });
  });

  it('is SESSION_LOST when it is reset', async () => {
    const { channel, socket } = await withForger();
    socket.resetAndDestroy();
    expect(await channel.closed).toMatchObject({ code: 'SESSION_LOST' });
  });
});

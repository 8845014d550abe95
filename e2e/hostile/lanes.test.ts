// SPDX-License-Identifier: MPL-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FrameSealer } from '../../native/lib/index.ts';
import type { HostileSender } from './hostile-sender.ts';
import { laneKey, nextEpochKey } from './lane-keys.ts';
import { DIRECTORY, type RawEntry } from './raw-manifest.ts';
import { Receiving } from './receiving.ts';

const CHUNK = 2 ** 20;
const SMALL = 0;
const LARGE = 1;
const FOLDER = 2;
const SPARSE = 3;
const offered: RawEntry[] = [
  { name: 'small', size: 4n },
  { name: 'large', size: BigInt(2 * CHUNK + 5) },
  { type: DIRECTORY, mode: 0o755, name: 'folder' },
  { mode: 0o644 | 0x8000, name: 'sparse', size: BigInt(2 * CHUNK + 5) },
];

interface Segment {
  entry?: number;
  flags?: number;
  offset?: number | bigint;
  length?: number;
  bytes?: Uint8Array;
}

/** The plaintext of a lane frame with these segments (PROTOCOL 5.2). */
function segments(...all: Segment[]): Buffer {
  const parts = all.map(
    ({ entry = SMALL, flags = 0, offset = 0, bytes = Buffer.from('good'), length = bytes.length }) => {
      const head = Buffer.alloc(17);
      head.writeUInt32BE(entry, 0);
      head.writeUInt8(flags, 4);
      head.writeBigUInt64BE(BigInt(offset), 5);
      head.writeUInt32BE(length, 13);
      return Buffer.concat([head, bytes]);
    },
  );
  return Buffer.concat([Buffer.of(1), ...parts]);
}

/** A segment that stands for chunks of zeros. */
function hole(of: Segment): Buffer {
  return segments({ entry: SPARSE, flags: 2, length: 1, bytes: new Uint8Array(), ...of });
}

/** Offers the entries, waits for the receiver's answer, and runs `lie` on the lane. */
async function sent(lie: (sender: HostileSender) => unknown) {
  const receiving = await Receiving.begin();
  try {
    const { sender } = receiving;
    sender.start();
    sender.page(0, offered);
    sender.end(4, 3, 4 * CHUNK + 14);
    await sender.hears('answer');
    await lie(sender);
    const ending = await receiving.end();
    const { exit, code, untouched, left, stderr } = ending;
    // The empty folder may exist: it comes from the offer, not from the lane.
    return { exit, code, untouched, stderr, left: left.filter((name) => name !== 'folder') };
  } finally {
    await receiving.close();
  }
}

async function raw(sender: HostileSender, bytes: Uint8Array): Promise<void> {
  (await sender.lane()).socket.write(bytes);
}

async function sealedWith(sender: HostileSender, key: (own: Buffer) => Uint8Array): Promise<Buffer> {
  const { suite, laneSecret } = sender.keys as NonNullable<typeof sender.keys>;
  const sealer = new FrameSealer({ suite, key: key(laneKey(laneSecret, suite, 'responder', 0)) });
  const frame = Buffer.from(sealer.seal(segments({})));
  sealer.close();
  return frame;
}

const MALFORMED = { exit: 3, code: 'HANDSHAKE_MALFORMED' };
const SIZE = { exit: 1, code: 'TRANSFER_SIZE_MISMATCH' };
const AUTH = { exit: 3, code: 'FRAME_AUTH_FAILED' };
const REPLAYED = { exit: 3, code: 'FRAME_REPLAYED' };
const LENGTH = { exit: 3, code: 'FRAME_TOO_LARGE' };
const TRUNCATED = { exit: 3, code: 'FRAME_TRUNCATED' };
const chunk = Buffer.alloc(CHUNK, 7);

function lengthField(length: number): Buffer {
  const field = Buffer.alloc(16);
  field.writeUInt32BE(length);
  return field;
}

const lies: [what: string, expected: { exit: number; code: string }, lie: (sender: HostileSender) => unknown][] = [
  ['bytes of an unknown entry', MALFORMED, (s) => s.frame(segments({ entry: 4 }))],
  ['bytes of entry 2^32 - 1', MALFORMED, (s) => s.frame(segments({ entry: 0xffffffff }))],
  ['bytes of a folder', MALFORMED, (s) => s.frame(segments({ entry: FOLDER }))],
  ['good bytes and then some of a folder', MALFORMED, (s) => s.frame(segments({}, { entry: FOLDER }))],
  ['too few bytes of a small file', SIZE, (s) => s.frame(segments({ bytes: Buffer.from('goo') }))],
  ['too many bytes of a small file', SIZE, (s) => s.frame(segments({ bytes: Buffer.from('goods') }))],
  ['a small file at an offset', SIZE, (s) => s.frame(segments({ offset: 1 }))],
  ['a chunk that begins between chunks', SIZE, (s) => s.frame(segments({ entry: LARGE, offset: 5, bytes: chunk }))],
  ['a part of a chunk', SIZE, (s) => s.frame(segments({ entry: LARGE, bytes: chunk.subarray(1) }))],
  ['a chunk longer than the last', SIZE, (s) => s.frame(segments({ entry: LARGE, offset: 2 * CHUNK, bytes: chunk }))],
  ['a chunk after the end', SIZE, (s) => s.frame(segments({ entry: LARGE, offset: 3 * CHUNK, bytes: chunk }))],
  [
    'a chunk at 2^64 - 2^20',
    SIZE,
    (s) => s.frame(segments({ entry: LARGE, offset: 2n ** 64n - 2n ** 20n, bytes: chunk })),
  ],
  ['a hole of a dense file', MALFORMED, (s) => s.frame(hole({ entry: LARGE }))],
  ['a hole of a small file', MALFORMED, (s) => s.frame(hole({ entry: SMALL }))],
  ['a hole of a folder', MALFORMED, (s) => s.frame(hole({ entry: FOLDER }))],
  ['a hole and its bytes', MALFORMED, (s) => s.frame(hole({ bytes: chunk }))],
  ['a hole that ends a stream', MALFORMED, (s) => s.frame(hole({ flags: 3 }))],
  ['a hole of length 0', SIZE, (s) => s.frame(hole({ length: 0 }))],
  ['a hole longer than its file', SIZE, (s) => s.frame(hole({ length: 4 }))],
  ['a hole of 2^32 - 1 chunks', SIZE, (s) => s.frame(hole({ length: 0xffffffff }))],
  ['a hole that begins between chunks', SIZE, (s) => s.frame(hole({ offset: 7 }))],
  ['a hole after the end', SIZE, (s) => s.frame(hole({ offset: 3 * CHUNK }))],
  ['a segment longer than its frame', MALFORMED, (s) => s.frame(segments({ length: 5 }))],
  ['a segment of 2^32 - 1 bytes', MALFORMED, (s) => s.frame(segments({ entry: LARGE, length: 0xffffffff }))],
  ['half the head of a segment', MALFORMED, (s) => s.frame(segments({}).subarray(0, 9))],
  ['an empty frame', MALFORMED, (s) => s.frame(new Uint8Array())],
  ['a second hello', MALFORMED, (s) => s.frame(Buffer.of(0))],
  ['an unknown kind of frame', MALFORMED, (s) => s.frame(Buffer.of(9, 1, 2))],
  ['the end before the files', { exit: 5, code: 'SESSION_CLOSED' }, (s) => s.frame(Buffer.of(2))],
  ['nothing, and hangs up', { exit: 5, code: 'SESSION_LOST' }, async (s) => (await s.lane()).socket.destroy()],
  ['a frame over the limit', LENGTH, (s) => raw(s, lengthField(2 ** 20 + 4096 + 29))],
  ['a frame of 4 GiB', LENGTH, (s) => raw(s, lengthField(0xffffffff))],
  ['a frame too short for its tag', LENGTH, (s) => raw(s, lengthField(27))],
  [
    'half a frame, and hangs up',
    TRUNCATED,
    async (s) => (await s.lane()).socket.end((await sealedWith(s, (key) => key)).subarray(0, 30)),
  ],
  ['half a length, and hangs up', TRUNCATED, async (s) => (await s.lane()).socket.end(Buffer.of(0, 0))],
  ['a frame under another key', AUTH, async (s) => raw(s, await sealedWith(s, () => Buffer.alloc(32, 9)))],
  ['a frame under the receiver’s own key', AUTH, async (s) => raw(s, await sealedWith(s, () => ownKey(s)))],
  [
    'a frame under the next epoch’s key that does not say so',
    AUTH,
    async (s) => raw(s, await sealedWith(s, nextEpochKey)),
  ],
  ['a frame twice', REPLAYED, async (s) => raw(s, await twice(s))],
  ['a frame that skips an epoch', REPLAYED, async (s) => raw(s, nonceOf(await sealedWith(s, (key) => key), 2, 0n))],
  ['a frame that skips a number', REPLAYED, async (s) => raw(s, nonceOf(await sealedWith(s, (key) => key), 0, 1n))],
];

function ownKey({ keys }: HostileSender): Buffer {
  return laneKey(keys?.laneSecret as Uint8Array, 'aes-256-gcm', 'initiator', 0);
}

async function twice(sender: HostileSender): Promise<Buffer> {
  const frame = await sealedWith(sender, (key) => key);
  return Buffer.concat([frame, frame]);
}

function nonceOf(frame: Buffer, epoch: number, counter: bigint): Buffer {
  frame.writeUInt32BE(epoch, 4);
  frame.writeBigUInt64BE(counter, 8);
  return frame;
}

describe('a lane that carries', () => {
  it.concurrent.each(lies)('%s ends the transfer', async (_what, expected, lie) => {
    const { left, ...ending } = await sent(lie);
    expect(ending).toEqual({ ...expected, untouched: true, stderr: '' });
    // Files that arrived before the lie may exist; the file that the lie concerned may not.
    expect(left.filter((name) => name !== 'small')).toEqual([]);
  });

  it.concurrent('a finished file a second time, with other bytes, changes nothing', async () => {
    const receiving = await Receiving.begin();
    try {
      const { sender, out } = receiving;
      sender.start();
      sender.page(0, offered);
      sender.end(4, 3, 4 * CHUNK + 14);
      await sender.hears('answer');
      await sender.frame(segments({}));
      await sender.frame(segments({ bytes: Buffer.from('evil') }, { bytes: Buffer.from('evil') }));
      await sender.frame(segments({ entry: LARGE, bytes: chunk }));
      await sender.frame(segments({ entry: LARGE, bytes: Buffer.alloc(CHUNK, 8) }));
      await sender.frame(segments({ entry: LARGE, offset: CHUNK, bytes: chunk }));
      await sender.frame(segments({ entry: LARGE, offset: 2 * CHUNK, bytes: chunk.subarray(0, 5) }));
      await sender.frame(segments({ entry: SPARSE, offset: CHUNK, bytes: chunk }));
      await sender.frame(hole({ length: 3 }));
      const { exit, left } = await receiving.end();
      expect({ exit, left }).toEqual({ exit: 0, left: ['folder', 'large', 'small', 'sparse'] });
      const sparse = await readFile(join(out, 'sparse'));
      expect(sparse.equals(Buffer.concat([Buffer.alloc(CHUNK), chunk, Buffer.alloc(5)]))).toBe(true);
      expect(await readFile(join(out, 'small'), 'utf8')).toBe('good');
      const large = await readFile(join(out, 'large'));
      expect(large.equals(Buffer.alloc(2 * CHUNK + 5, 7))).toBe(true);
    } finally {
      await receiving.close();
    }
  });

  it.concurrent('a part before it is refused keeps that part for resuming, and no file under its name', async () => {
    const { exit, left } = await sent(async (sender) => {
      await sender.frame(segments({ entry: LARGE, bytes: chunk }));
      await sender.frame(segments({ entry: 77 }));
    });
    expect(exit).toBe(3);
    expect(left[0]).toBe('.keibidrop-partial');
    expect(left.filter((name) => !name.startsWith('.keibidrop-partial'))).toEqual([]);
    expect(left.filter((name) => /\.(data|map)$/.test(name))).toHaveLength(2);
  });

  it.concurrent('bytes for an empty file ends the transfer', async () => {
    const receiving = await Receiving.begin();
    try {
      const { sender } = receiving;
      sender.start();
      sender.page(0, [{ name: 'empty', size: 0n }, ...offered.slice(0, 2)]);
      sender.end(3, 3, 2 * CHUNK + 9);
      await sender.hears('answer');
      await sender.frame(segments({ entry: 0 }));
      const { exit, code } = await receiving.end();
      expect({ exit, code }).toEqual({ exit: 1, code: 'TRANSFER_SIZE_MISMATCH' });
    } finally {
      await receiving.close();
    }
  });
});

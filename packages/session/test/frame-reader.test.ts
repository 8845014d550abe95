// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader } from '../src/control/frame-reader.ts';

const LIMIT = 1000;

/** Frames whose plaintext is their body, to test the cutting alone. */
function plainReader(): FrameReader {
  return new FrameReader({ open: (frame) => frame.slice(4) }, (field) => {
    const length = new DataView(field.buffer, field.byteOffset).getUint32(0);
    if (length > LIMIT) throw new RangeError('too large');
    return length;
  });
}

function framed(body: Uint8Array): Uint8Array {
  const frame = new Uint8Array(4 + body.length);
  new DataView(frame.buffer).setUint32(0, body.length);
  frame.set(body, 4);
  return frame;
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let rest = bytes;
  for (const size of sizes) {
    pieces.push(rest.slice(0, size));
    rest = rest.slice(size);
  }
  return [...pieces, rest];
}

describe('FrameReader', () => {
  it('gives the same frames for any cutting of the bytes', () => {
    const bodies = fc.array(fc.uint8Array({ maxLength: LIMIT }), { maxLength: 8 });
    fc.assert(
      fc.property(bodies, fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 60 }), (sent, sizes) => {
        const reader = plainReader();
        const stream = Uint8Array.from(Buffer.concat(sent.map(framed)));
        const received = cut(stream, sizes).flatMap((piece) => [...reader.feed(piece)]);
        expect(received).toEqual(sent);
        expect(reader.insideFrame).toBe(false);
      }),
    );
  });

  it('refuses a length over the limit before the frame arrives', () => {
    const field = Uint8Array.of(0, 0, 0xff, 0xff);
    expect(() => [...plainReader().feed(field)]).toThrow('too large');
    const reader = plainReader();
    expect([...reader.feed(field.subarray(0, 3))]).toEqual([]);
    expect(() => [...reader.feed(field.subarray(3))]).toThrow('too large');
  });

  it.each([1, 4, 5, 9])('reports %i bytes of a frame of 10 as incomplete', (length) => {
    const reader = plainReader();
    expect([...reader.feed(framed(new Uint8Array(6)).slice(0, length))]).toEqual([]);
    expect(() => reader.end()).toThrow(expect.objectContaining({ code: 'FRAME_TRUNCATED' }));
  });

  it('ends without an error between two frames', () => {
    const reader = plainReader();
    expect([...reader.feed(framed(new Uint8Array(6)))]).toHaveLength(1);
    expect(() => reader.end()).not.toThrow();
  });
});

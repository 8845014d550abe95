// SPDX-License-Identifier: MPL-2.0
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameOpener, FrameSealer, hasHardwareAes, type Suite } from './index.ts';

const SUITES: Suite[] = ['aes-256-gcm', 'chacha20-poly1305'];
const HEADER_BYTES = 16;
const key = () => Uint8Array.from({ length: 32 }, (_, i) => i);

/** A second implementation of PROTOCOL 4, with Node's own crypto. */
class Reference {
  #key = Buffer.from(key());
  #epoch = 0;
  #counter = 0;

  readonly suite: Suite;

  constructor(suite: Suite) {
    this.suite = suite;
  }

  ratchet(): void {
    const label = Buffer.from('KeibiDrop ratchet\x01', 'latin1');
    this.#key = createHmac('sha512', this.#key).update(label).digest().subarray(0, 32);
    this.#epoch++;
  }

  #nonce(): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(this.#epoch);
    nonce.writeBigUInt64BE(BigInt(this.#counter++), 4);
    return nonce;
  }

  seal(plaintext: Uint8Array): Uint8Array {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(12 + plaintext.length + 16);
    const nonce = this.#nonce();
    // The type covers both suites: Node takes authTagLength for either.
    const cipher = createCipheriv(this.suite as 'aes-256-gcm', this.#key, nonce, { authTagLength: 16 });
    cipher.setAAD(length);
    const text = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return new Uint8Array(Buffer.concat([length, nonce, text, cipher.getAuthTag()]));
  }

  open(frame: Uint8Array): Uint8Array {
    while (Buffer.from(frame).readUInt32BE(4) > this.#epoch) this.ratchet();
    const nonce = this.#nonce();
    expect(Buffer.from(frame.subarray(4, HEADER_BYTES))).toEqual(nonce);
    const decipher = createDecipheriv(this.suite as 'aes-256-gcm', this.#key, nonce, { authTagLength: 16 });
    decipher.setAAD(frame.subarray(0, 4));
    decipher.setAuthTag(frame.subarray(-16));
    return Buffer.concat([decipher.update(frame.subarray(HEADER_BYTES, -16)), decipher.final()]);
  }
}

describe.each(SUITES)('frames of %s', (suite) => {
  const pair = (ratchetBytes = 2 ** 30) => ({
    sealer: new FrameSealer({ suite, key: key(), ratchetBytes }),
    opener: new FrameOpener({ suite, key: key() }),
  });

  it('opens sealed frames of any size and epoch length', () => {
    const plaintexts = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 });
    fc.assert(
      fc.property(plaintexts, fc.integer({ min: 1, max: 600 }), (all, ratchetBytes) => {
        const { sealer, opener } = pair(ratchetBytes);
        for (const plaintext of all) {
          const before = plaintext.slice();
          const opened = opener.open(sealer.seal(plaintext));
          expect(opened).toEqual(before);
          expect(plaintext).toEqual(before);
        }
      }),
    );
  });

  it('seals as Node does, across epochs', () => {
    const sealer = new FrameSealer({ suite, key: key(), ratchetBytes: 10 });
    const reference = new Reference(suite);
    for (let i = 0; i < 20; i++) {
      const plaintext = Buffer.alloc(4, i);
      expect(reference.open(sealer.seal(plaintext))).toEqual(plaintext);
    }
  });

  it('opens frames that Node sealed, across epochs', () => {
    const opener = new FrameOpener({ suite, key: key() });
    const reference = new Reference(suite);
    for (let i = 0; i < 20; i++) {
      if (i % 3 === 2) reference.ratchet();
      expect(opener.open(reference.seal(Uint8Array.of(i)))).toEqual(Uint8Array.of(i));
    }
  });

  it('returns the plaintext as a view of the frame', () => {
    const { sealer, opener } = pair();
    const frame = sealer.seal(Uint8Array.of(1, 2, 3));
    expect(opener.open(frame).buffer).toBe(frame.buffer);
  });

  it('opens a frame inside a larger buffer', () => {
    const { sealer, opener } = pair();
    const sealed = sealer.seal(Uint8Array.of(1, 2, 3));
    const buffer = new Uint8Array(100);
    buffer.set(sealed, 7);
    expect(opener.open(buffer.subarray(7, 7 + sealed.length))).toEqual(Uint8Array.of(1, 2, 3));
    expect(buffer[6]).toBe(0);
  });

  it('names each refusal and keeps refusing', () => {
    const cases: [string, (frame: Uint8Array) => Uint8Array][] = [
      ['FRAME_AUTH_FAILED', (frame) => frame.with(20, ~(frame[20] ?? 0))],
      ['FRAME_REPLAYED', (frame) => frame.with(15, 5)],
      ['FRAME_TRUNCATED', (frame) => frame.subarray(0, -1)],
      ['FRAME_TRUNCATED', () => new Uint8Array()],
      ['FRAME_TOO_LARGE', (frame) => frame.with(0, 1)],
    ];
    for (const [code, change] of cases) {
      const { sealer, opener } = pair();
      const frame = sealer.seal(new Uint8Array(9));
      expect(() => opener.open(change(frame.slice()))).toThrow(expect.objectContaining({ code }));
      expect(() => opener.open(frame)).toThrow(expect.objectContaining({ code }));
    }
  });

  it('refuses everything once closed, and closes twice', () => {
    const { sealer, opener } = pair();
    const frame = sealer.seal(new Uint8Array(1));
    for (const closed of [sealer, opener, sealer, opener]) closed.close();
    expect(() => sealer.seal(new Uint8Array(1))).toThrow(expect.objectContaining({ code: 'SESSION_CLOSED' }));
    expect(() => opener.open(frame)).toThrow(expect.objectContaining({ code: 'SESSION_CLOSED' }));
  });

  it('refuses a plaintext over the limit before allocating', () => {
    const { sealer, opener } = pair();
    const most = 2 ** 20 + 4096;
    expect(opener.open(sealer.seal(new Uint8Array(most))).length).toBe(most);
    const tooLarge = expect.objectContaining({ code: 'FRAME_TOO_LARGE' });
    expect(() => sealer.seal(new Uint8Array(most + 1))).toThrow(tooLarge);
  });
});

it('returns how many bytes follow a length field, within the limits', () => {
  const field = (length: number) => Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length);
  const most = 28 + 2 ** 20 + 4096;
  for (const length of [28, 29, most]) expect(FrameOpener.bodyBytes(field(length))).toBe(length);
  for (const length of [0, 27, most + 1, 0xffffffff]) {
    const tooLarge = expect.objectContaining({ code: 'FRAME_TOO_LARGE' });
    expect(() => FrameOpener.bodyBytes(field(length))).toThrow(tooLarge);
  }
});

it('refuses arguments that would break native code', () => {
  const suite = SUITES[0] as Suite;
  const sealer = new FrameSealer({ suite, key: key() });
  const shared = new Uint8Array(new SharedArrayBuffer(32));
  const Resizable = ArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;
  const resizable = new Uint8Array(new Resizable(32, { maxByteLength: 64 }));
  const calls = [
    () => new FrameSealer({ suite, key: new Uint8Array(31) }),
    () => new FrameSealer({ suite, key: shared }),
    () => new FrameSealer({ suite: 'toString' as Suite, key: key() }),
    () => new FrameSealer({ suite, key: key(), ratchetBytes: 0 }),
    () => new FrameSealer({ suite, key: key(), ratchetBytes: 1.5 }),
    () => new FrameOpener({ suite, key: [...key()] as unknown as Uint8Array }),
    () => new FrameOpener({ suite: 'rot13' as Suite, key: key() }),
    () => sealer.seal(shared),
    () => sealer.seal(resizable),
    () => sealer.seal('text' as unknown as Uint8Array),
    () => FrameOpener.bodyBytes(new Uint8Array(3)),
  ];
  for (const call of calls) expect(call).toThrow(expect.objectContaining({ name: 'TypeError', code: 'INTERNAL' }));
});

it('reports whether this processor has AES', () => {
  expect(hasHardwareAes()).toBeTypeOf('boolean');
});

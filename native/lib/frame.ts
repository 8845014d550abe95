// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertInteger, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';

/** The AEADs of PROTOCOL 3. */
export type Suite = 'aes-256-gcm' | 'chacha20-poly1305';

interface NativeFrameSealer {
  seal(frame: Uint8Array): void;
  close(): void;
}

interface NativeFrameOpener {
  open(frame: Uint8Array): number;
  close(): void;
}

interface FrameBinding {
  FrameSealer: new (suiteBit: number, key: Uint8Array, ratchetBytes: number) => NativeFrameSealer;
  FrameOpener: new (suiteBit: number, key: Uint8Array) => NativeFrameOpener;
  bodyBytes(lengthField: Uint8Array): number;
  hasHardwareAes(): boolean;
  libcryptoVersion(): string;
}

const SUITE_BITS: Record<Suite, number> = { 'aes-256-gcm': 1, 'chacha20-poly1305': 2 };
const KEY_BYTES = 32;
const LENGTH_BYTES = 4;
const HEADER_BYTES = 16;
const OVERHEAD_BYTES = 32;
const MAX_PLAINTEXT_BYTES = 2 ** 20 + 4096;
const RATCHET_BYTES = 2 ** 30;

/** The bit that stands for a suite in native code and on the wire (PROTOCOL 3). */
export function suiteBitOf(suite: Suite): number {
  if (!Object.hasOwn(SUITE_BITS, suite)) throw misuse('suite must be aes-256-gcm or chacha20-poly1305');
  return SUITE_BITS[suite];
}

/** Whether this processor has AES in hardware; false if KD_NO_HARDWARE_AES is set at start, for tests. */
export function hasHardwareAes(): boolean {
  return loadBinding<FrameBinding>().hasHardwareAes();
}

/** The version of the addon's OpenSSL: `3.5.4`. */
export function libcryptoVersion(): string {
  return loadBinding<FrameBinding>().libcryptoVersion();
}

/**
 * Seals one direction of a connection into frames (PROTOCOL 4): nonces in sequence, epochs ratcheted in band.
 *
 *   0        4               16                16+n          16+n+16
 *   | length | nonce (12 B)  | ciphertext (n B) | tag (16 B) |      length = 12 + n + 16, big-endian
 */
export class FrameSealer {
  readonly #native: NativeFrameSealer;

  /**
   * @param options.key           copied into native memory; the caller wipes its own copy
   * @param options.ratchetBytes  plaintext bytes of an epoch; default and maximum 2^30
   */
  constructor({ suite, key, ratchetBytes = RATCHET_BYTES }: { suite: Suite; key: Uint8Array; ratchetBytes?: number }) {
    assertBytes('key', key, KEY_BYTES);
    assertInteger('ratchetBytes', ratchetBytes, 1, RATCHET_BYTES);
    this.#native = new (loadBinding<FrameBinding>().FrameSealer)(suiteBitOf(suite), key, ratchetBytes);
  }

  /**
   * Returns the next frame in a new array; `plaintext` is unchanged.
   *
   * @throws FRAME_TOO_LARGE over 1 MiB + 4 KiB, SESSION_CLOSED after close()
   */
  seal(plaintext: Uint8Array): Uint8Array {
    assertBytes('plaintext', plaintext);
    if (plaintext.byteLength > MAX_PLAINTEXT_BYTES) {
      const message = `a frame of ${plaintext.byteLength} bytes is over the limit of ${MAX_PLAINTEXT_BYTES}`;
      throw Object.assign(new RangeError(message), { code: 'FRAME_TOO_LARGE' });
    }
    const frame = new Uint8Array(plaintext.byteLength + OVERHEAD_BYTES);
    frame.set(plaintext, HEADER_BYTES);
    this.#native.seal(frame);
    return frame;
  }

  /** Wipes the key. Idempotent. */
  close(): void {
    this.#native.close();
  }
}

/** Opens the frames of one direction, in order. A refusal is final: every later call fails with the same code. */
export class FrameOpener {
  readonly #native: NativeFrameOpener;

  /** @param options.key  copied into native memory; the caller wipes its own copy */
  constructor({ suite, key }: { suite: Suite; key: Uint8Array }) {
    assertBytes('key', key, KEY_BYTES);
    this.#native = new (loadBinding<FrameBinding>().FrameOpener)(suiteBitOf(suite), key);
  }

  /**
   * Opens one frame in place.
   *
   * @param frame  exactly one frame, length field included; overwritten with the plaintext
   * @returns      view of the plaintext inside `frame`
   * @throws       FRAME_TOO_LARGE, FRAME_TRUNCATED, FRAME_REPLAYED, FRAME_AUTH_FAILED; SESSION_CLOSED after close()
   */
  open(frame: Uint8Array): Uint8Array {
    assertBytes('frame', frame);
    return frame.subarray(HEADER_BYTES, HEADER_BYTES + this.#native.open(frame));
  }

  /** Wipes the key. Idempotent. */
  close(): void {
    this.#native.close();
  }

  /**
   * The number of bytes after a length field, checked before anything of that size is allocated.
   *
   * @param lengthField  the first 4 bytes of a frame
   * @throws             FRAME_TOO_LARGE when the length is out of range, above or below
   */
  static bodyBytes(lengthField: Uint8Array): number {
    assertBytes('lengthField', lengthField, LENGTH_BYTES);
    return loadBinding<FrameBinding>().bodyBytes(lengthField);
  }
}

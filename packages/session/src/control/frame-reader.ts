// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';

/** Opens frames: the part of the native FrameOpener that the reader uses. */
export interface Opener {
  /** Opens one whole frame in place and returns a view of its plaintext. Throws FRAME_AUTH_FAILED, FRAME_REPLAYED. */
  open(frame: Uint8Array): Uint8Array;
}

const LENGTH_BYTES = 4;

/**
 * Cuts a byte stream into frames and opens them (PROTOCOL 4.1), whatever the sizes of the pieces.
 *
 * A frame that lies whole in one piece is opened in place. Any other frame is copied once into an array of its own
 * size. Memory is bounded by one frame, whose length is checked before the allocation. The reader owns the pieces given
 * to `feed` and overwrites them.
 */
export class FrameReader {
  readonly #opener: Opener;
  readonly #bodyBytes: (lengthField: Uint8Array) => number;
  readonly #length = new Uint8Array(LENGTH_BYTES);
  #lengthFilled = 0;
  #frame: Uint8Array | undefined;
  #frameFilled = 0;

  /**
   * @param bodyBytes  checks the four bytes of a length field and returns the number of bytes that follow it; throws
   * FRAME_TOO_LARGE
   */
  constructor(opener: Opener, bodyBytes: (lengthField: Uint8Array) => number) {
    this.#opener = opener;
    this.#bodyBytes = bodyBytes;
  }

  /** True between the first and the last byte of a frame. */
  get insideFrame(): boolean {
    return this.#lengthFilled > 0;
  }

  /** Yields the plaintext of each frame that ends in `piece`, in order. @throws FRAME_TOO_LARGE, FRAME_AUTH_FAILED, FRAME_REPLAYED */
  *feed(piece: Uint8Array): Generator<Uint8Array> {
    let rest = piece;
    while (rest.length > 0) {
      const whole = this.#wholeFrame(rest);
      if (whole !== undefined) {
        rest = rest.subarray(whole.length);
        yield this.#opener.open(whole);
        continue;
      }
      rest = rest.subarray(this.#frame === undefined ? this.#fillLength(rest) : this.#fillFrame(this.#frame, rest));
      const frame = this.#takeFullFrame();
      if (frame !== undefined) yield this.#opener.open(frame);
    }
  }

  /** @throws FRAME_TRUNCATED if the stream ended inside a frame */
  end(): void {
    if (this.insideFrame) throw new KeibiError('FRAME_TRUNCATED', 'The connection ended in the middle of a frame.');
  }

  #wholeFrame(bytes: Uint8Array): Uint8Array | undefined {
    if (this.insideFrame || bytes.length < LENGTH_BYTES) return undefined;
    const frameBytes = LENGTH_BYTES + this.#bodyBytes(bytes.subarray(0, LENGTH_BYTES));
    return bytes.length < frameBytes ? undefined : bytes.subarray(0, frameBytes);
  }

  #fillLength(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, LENGTH_BYTES - this.#lengthFilled);
    this.#length.set(bytes.subarray(0, taken), this.#lengthFilled);
    this.#lengthFilled += taken;
    if (this.#lengthFilled === LENGTH_BYTES) {
      this.#frame = new Uint8Array(LENGTH_BYTES + this.#bodyBytes(this.#length));
      this.#frame.set(this.#length);
      this.#frameFilled = LENGTH_BYTES;
    }
    return taken;
  }

  #fillFrame(frame: Uint8Array, bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, frame.length - this.#frameFilled);
    frame.set(bytes.subarray(0, taken), this.#frameFilled);
    this.#frameFilled += taken;
    return taken;
  }

  #takeFullFrame(): Uint8Array | undefined {
    const frame = this.#frame;
    if (frame === undefined || this.#frameFilled < frame.length) return undefined;
    this.#frame = undefined;
    this.#lengthFilled = 0;
    return frame;
  }
}

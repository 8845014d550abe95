// SPDX-License-Identifier: MPL-2.0

/**
 * Cuts the bytes of one gRPC stream into messages:
 *
 *   0            1            5
 *   | compressed | length 4   | message |
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, Length-Prefixed-Message
 */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #prefix = Buffer.alloc(MESSAGE_PREFIX_BYTES);
  #prefixFilled = 0;
  #message: Buffer | undefined;
  #filled = 0;

  /** @param maxBytes  longest accepted message; a longer one is refused before any memory is allocated for it */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Yields each message that ends in `piece`. Throws RangeError for one that is too long or compressed. */
  *feed(piece: Buffer): Generator<Buffer> {
    let offset = 0;
    while (offset < piece.length) {
      if (this.#message === undefined) {
        const copied = piece.copy(this.#prefix, this.#prefixFilled, offset);
        this.#prefixFilled += copied;
        offset += copied;
        if (this.#prefixFilled === MESSAGE_PREFIX_BYTES) this.#begin();
      } else {
        const copied = piece.copy(this.#message, this.#filled, offset);
        this.#filled += copied;
        offset += copied;
      }
      if (this.#message?.length === this.#filled) yield this.#take(this.#message);
    }
  }

  #begin(): void {
    const length = this.#prefix.readUInt32BE(1);
    if (this.#prefix[0] !== 0) throw new RangeError('a compressed message, which was not agreed on');
    if (length > this.#maxBytes)
      throw new RangeError(`a message of ${length} bytes, of which ${this.#maxBytes} are allowed`);
    this.#message = Buffer.allocUnsafe(length);
    this.#filled = 0;
  }

  #take(message: Buffer): Buffer {
    this.#message = undefined;
    this.#prefixFilled = 0;
    return message;
  }
}

export const MESSAGE_PREFIX_BYTES = 5;

/** One message with its prefix, not compressed. */
export function prefixMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(MESSAGE_PREFIX_BYTES + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, MESSAGE_PREFIX_BYTES);
  return framed;
}

// SPDX-License-Identifier: MPL-2.0
import { FrameOpener, FrameSealer } from '@keibidrop/native';
import {
  type ContactMessage,
  decodeContactMessage,
  decodeMeetingMessage,
  encodeContactMessage,
  encodeMeetingMessage,
  KeibiError,
  type MessagePipe,
} from '@keibidrop/protocol';

const SUITE = 'chacha20-poly1305';

/**
 * The sealed conversation of two contacts after their meeting (PROTOCOL 10.3). One object numbers the frames of both
 * directions, so a key never meets a nonce twice. Repeated, reordered and missing messages are refused.
 */
export class SealedConversation {
  readonly #pipe: MessagePipe;
  readonly #sealer: FrameSealer;
  readonly #opener: FrameOpener;

  /** @param keys  copied into native memory and zeroed here */
  constructor(pipe: MessagePipe, keys: { write: Uint8Array; read: Uint8Array }) {
    this.#pipe = pipe;
    this.#sealer = new FrameSealer({ suite: SUITE, key: keys.write });
    this.#opener = new FrameOpener({ suite: SUITE, key: keys.read });
    keys.write.fill(0);
    keys.read.fill(0);
  }

  /** @throws SESSION_CLOSED after `close`; the errors of the pipe */
  async send(message: ContactMessage): Promise<void> {
    const plaintext = encodeContactMessage(message);
    const frame = named(() => this.#sealer.seal(plaintext));
    plaintext.fill(0);
    await this.#pipe.send(encodeMeetingMessage({ kind: 'sealed', frame }));
  }

  /**
   * Waits for the contact's next message. One reader at a time. A refusal is final: close the conversation after it.
   *
   * @throws HANDSHAKE_MALFORMED or FRAME_* when the contact did not seal the message; the errors of the pipe;
   * `signal.reason` on abort
   */
  async receive({ signal }: { signal: AbortSignal }): Promise<ContactMessage> {
    const body = decodeMeetingMessage(await this.#pipe.receive({ signal }));
    if (body.kind !== 'sealed') throw new KeibiError('HANDSHAKE_MALFORMED');
    return decodeContactMessage(named(() => this.#opener.open(body.frame.slice())));
  }

  /** Frees the keys and ends the conversation for both sides, without a farewell message. Idempotent. */
  close(): void {
    this.#sealer.close();
    this.#opener.close();
    this.#pipe.close();
  }
}

function named<T>(act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw KeibiError.from(cause, 'FRAME_AUTH_FAILED');
  }
}

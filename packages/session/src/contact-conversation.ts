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
 * What two contacts say to each other after their meeting, sealed (PROTOCOL 10.3). One object keeps the frames of both directions in order,
 * so that no key ever meets a nonce twice, and nothing is taken that was repeated, moved or left out.
 */
export class ContactConversation {
  readonly #pipe: MessagePipe;
  readonly #sealer: FrameSealer;
  readonly #opener: FrameOpener;

  /** @param keys  copied into native and zeroed here */
  constructor(pipe: MessagePipe, keys: { write: Uint8Array; read: Uint8Array }) {
    this.#pipe = pipe;
    this.#sealer = new FrameSealer({ suite: SUITE, key: keys.write });
    this.#opener = new FrameOpener({ suite: SUITE, key: keys.read });
    keys.write.fill(0);
    keys.read.fill(0);
  }

  /** @throws SESSION_CLOSED after `close`; whatever the pipe throws */
  async send(message: ContactMessage): Promise<void> {
    const plaintext = encodeContactMessage(message);
    const frame = named(() => this.#sealer.seal(plaintext));
    plaintext.fill(0);
    await this.#pipe.send(encodeMeetingMessage({ kind: 'sealed', frame }));
  }

  /**
   * The next message of the contact. One reader at a time; a refusal is final, so close the conversation then.
   *
   * @throws HANDSHAKE_MALFORMED, FRAME_* when it is not what the contact sealed; whatever the pipe throws; `signal.reason` on abort
   */
  async receive({ signal }: { signal: AbortSignal }): Promise<ContactMessage> {
    const body = decodeMeetingMessage(await this.#pipe.receive({ signal }));
    if (body.kind !== 'sealed') throw new KeibiError('HANDSHAKE_MALFORMED');
    return decodeContactMessage(named(() => this.#opener.open(body.frame.slice())));
  }

  /** Frees the keys and ends the conversation for both; says no farewell. Idempotent. */
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

// SPDX-License-Identifier: MPL-2.0
import { FrameOpener, FrameSealer } from '@keibidrop/native';
import {
  type Candidate,
  decodeCandidates,
  decodeMeetingMessage,
  encodeCandidates,
  encodeMeetingMessage,
  KeibiError,
  type MessagePipe,
} from '@keibidrop/protocol';
import type { Meeting } from './meeting.ts';

/**
 * Exchanges candidates in both directions after the meeting, sealed (PROTOCOL 2.2).
 *
 * One object numbers the frames of both directions, so a key never meets a nonce twice. Create one per meeting.
 */
export class CandidateExchange {
  readonly #pipe: MessagePipe;
  readonly #sealer: FrameSealer;
  readonly #opener: FrameOpener;

  /** @param meeting  its seal keys are copied into native memory and zeroed here */
  constructor(pipe: MessagePipe, meeting: Meeting, role: 'guest' | 'owner') {
    const { sealGuest, sealOwner } = meeting;
    const [writeKey, readKey] = role === 'guest' ? [sealGuest, sealOwner] : [sealOwner, sealGuest];
    this.#pipe = pipe;
    this.#sealer = new FrameSealer({ suite: 'chacha20-poly1305', key: writeKey });
    this.#opener = new FrameOpener({ suite: 'chacha20-poly1305', key: readKey });
    sealGuest.fill(0);
    sealOwner.fill(0);
  }

  /** Sends our candidates. May be called again with later ones. */
  async send(candidates: readonly Candidate[]): Promise<void> {
    const frame = this.#sealer.seal(encodeCandidates(candidates));
    await this.#pipe.send(encodeMeetingMessage({ kind: 'sealed', frame }));
  }

  /**
   * Waits for the peer's candidates.
   *
   * @throws HANDSHAKE_MALFORMED or FRAME_* when the peer did not seal the body; the errors of the pipe
   */
  async receive({ signal }: { signal: AbortSignal }): Promise<Candidate[]> {
    const message = decodeMeetingMessage(await this.#pipe.receive({ signal }));
    if (message.kind !== 'sealed') throw new KeibiError('HANDSHAKE_MALFORMED');
    return decodeCandidates(this.#opened(message.frame.slice()));
  }

  #opened(frame: Uint8Array): Uint8Array {
    try {
      return this.#opener.open(frame);
    } catch (cause) {
      throw KeibiError.from(cause, 'FRAME_AUTH_FAILED');
    }
  }

  /** Frees the keys and ends the conversation. Idempotent. */
  close(): void {
    this.#sealer.close();
    this.#opener.close();
    this.#pipe.close();
  }
}

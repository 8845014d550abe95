// SPDX-License-Identifier: MPL-2.0
import type { MessagePipe } from '@keibidrop/protocol';
import type { ServerMessage } from './server-message.ts';

/** Says something to the other server; rejects if nobody listens there. */
export type Tell = (message: ServerMessage) => Promise<void>;

/** One end of a conversation whose other end is at another server: carries what comes out of `pipe` there, and what comes from there in. */
export class FarConversation {
  readonly #id: string;
  readonly #pipe: MessagePipe;
  readonly #tell: Tell;

  constructor(id: string, pipe: MessagePipe, tell: Tell) {
    this.#id = id;
    this.#pipe = pipe;
    this.#tell = tell;
  }

  /** Resolves when the conversation has ended, by either side or for want of a word. */
  async run(): Promise<void> {
    const { signal } = new AbortController();
    try {
      for (;;) {
        const body = await this.#pipe.receive({ signal });
        await this.#tell({ kind: 'body', conversation: this.#id, body });
      }
    } catch {
      this.#pipe.close();
      await this.#tell({ kind: 'left', conversation: this.#id, full: false }).catch(() => {});
    }
  }

  hear(body: Uint8Array): void {
    this.#pipe.send(body).catch(() => this.#pipe.close());
  }

  /** The other end has left, or cannot be heard any more. */
  end(): void {
    this.#pipe.close();
  }
}

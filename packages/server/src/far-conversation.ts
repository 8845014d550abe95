// SPDX-License-Identifier: MPL-2.0
import type { MessagePipe } from '@keibidrop/protocol';
import type { ServerMessage } from './server-message.ts';

/** Sends a message to the other server; rejects if that server no longer listens. */
export type Forward = (message: ServerMessage) => Promise<void>;

/** One end of a conversation whose other end is at another server. Forwards bodies from `pipe` to that server, and its bodies into `pipe`. */
export class FarConversation {
  readonly #id: string;
  readonly #pipe: MessagePipe;
  readonly #forward: Forward;

  constructor(id: string, pipe: MessagePipe, forward: Forward) {
    this.#id = id;
    this.#pipe = pipe;
    this.#forward = forward;
  }

  /** Resolves when the conversation has ended, closed by either side or by the idle limit. */
  async run(): Promise<void> {
    const { signal } = new AbortController();
    try {
      for (;;) {
        const body = await this.#pipe.receive({ signal });
        await this.#forward({ kind: 'body', conversation: this.#id, body });
      }
    } catch {
      this.#pipe.close();
      await this.#forward({ kind: 'left', conversation: this.#id, full: false }).catch(() => {});
    }
  }

  hear(body: Uint8Array): void {
    this.#pipe.send(body).catch(() => this.#pipe.close());
  }

  /** Closes this end: the other end has left or is no longer reachable. */
  end(): void {
    this.#pipe.close();
  }
}

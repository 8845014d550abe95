// SPDX-License-Identifier: MPL-2.0
import { KeibiError, type MessagePipe } from '@keibidrop/protocol';

export type Sender = 'guest' | 'owner';

/** How the mailbox forwards each body, perhaps altered. */
export type AlterBody = (body: Uint8Array, from: Sender, index: number) => Uint8Array;

/** A conversation in memory: each side receives the bodies of the other until one of them closes. */
export function messagePipes(alter: AlterBody = (body) => body): Record<Sender, MessagePipe & { closed: boolean }> {
  const guest = new PipeEnd('guest', alter);
  const owner = new PipeEnd('owner', alter);
  guest.peer = owner;
  owner.peer = guest;
  return { guest, owner };
}

class PipeEnd implements MessagePipe {
  readonly #name: Sender;
  readonly #alter: AlterBody;
  readonly #bodies: Uint8Array[] = [];
  #sent = 0;
  #wake: () => void = () => {};
  closed = false;
  peer: PipeEnd | undefined;

  constructor(name: Sender, alter: AlterBody) {
    this.#name = name;
    this.#alter = alter;
  }

  async send(body: Uint8Array): Promise<void> {
    if (this.closed || this.peer === undefined) throw new KeibiError('SESSION_LOST');
    this.peer.#bodies.push(this.#alter(body.slice(), this.#name, this.#sent++));
    this.peer.#wake();
  }

  async receive({ signal }: { signal: AbortSignal }): Promise<Uint8Array> {
    signal.throwIfAborted();
    const wake = () => this.#wake();
    signal.addEventListener('abort', wake);
    try {
      while (this.#bodies.length === 0) {
        signal.throwIfAborted();
        if (this.closed) throw new KeibiError('SESSION_LOST');
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      return this.#bodies.shift() as Uint8Array;
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  close(): void {
    for (const end of [this, this.peer as PipeEnd]) {
      end.closed = true;
      end.#wake();
    }
  }
}

// SPDX-License-Identifier: MPL-2.0
import { type Conversation, Inbox, KeibiError, type MessagePipe, type Owner } from '@keibidrop/protocol';

const { signal } = new AbortController();

/** A mailbox in memory: `join` delivers a guest to its owner. */
export class MailboxInMemory implements Owner {
  readonly #arrivals = new Inbox<Conversation>(8);

  join(): MessagePipe {
    const [toGuest, toOwner] = [new Inbox<Uint8Array>(8), new Inbox<Uint8Array>(8)];
    const end = () => {
      for (const inbox of [toGuest, toOwner]) inbox.end(new KeibiError('PEER_UNREACHABLE'));
    };
    const pipe = (incoming: Inbox<Uint8Array>, outgoing: Inbox<Uint8Array>): MessagePipe => ({
      send: async (body) => outgoing.put(Uint8Array.from(body)),
      receive: (options) => incoming.take(options),
      close: end,
    });
    this.#arrivals.put({ guest: 1, ...pipe(toOwner, toGuest) });
    return pipe(toGuest, toOwner);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Conversation> {
    for (;;) yield await this.#arrivals.take({ signal });
  }

  close(): void {}
}

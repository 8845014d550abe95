// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { NetworkCount } from './network.ts';

/** Limits for all conversations together and for one network; wider networks get a multiple (`NetworkCount`). */
export interface ConversationRoomLimits {
  conversations: number;
  conversationsPerNetwork: number;
  /** Bodies that were sent and not taken, in bytes. */
  queuedBytes: number;
  queuedBytesPerNetwork: number;
}

/** One conversation's place. Both directions count for the network of the guest, who has opened it. */
export interface ConversationPlace {
  /** A body is queued. @throws RENDEZVOUS_BUSY */
  hold(bytes: number): void;
  /** It was taken or dropped. */
  release(bytes: number): void;
  /** The conversation has ended; bodies that are not taken yet still count. Idempotent. */
  leave(): void;
}

/** Counts conversations and their queued bytes, for each network and in total. */
export class ConversationRoom {
  readonly #limits: ConversationRoomLimits;
  readonly #conversations = new NetworkCount();
  readonly #bytes = new NetworkCount();
  #count = 0;
  #queued = 0;
  /** Conversations that were refused or ended for want of room, ever. */
  refused = 0;

  constructor(limits: ConversationRoomLimits) {
    this.#limits = limits;
  }

  /** Conversations at this moment. */
  get size(): number {
    return this.#count;
  }

  /** @throws RENDEZVOUS_BUSY */
  enter(network: string): ConversationPlace {
    const { conversations, conversationsPerNetwork } = this.#limits;
    const isCrowded = network !== '' && !this.#conversations.hasRoom(network, conversationsPerNetwork);
    if (isCrowded || this.#count >= conversations) throw this.#full();
    this.#count++;
    this.#conversations.add(network);
    let left = false;
    return {
      hold: (bytes) => this.#hold(network, bytes),
      release: (bytes) => {
        this.#queued -= bytes;
        this.#bytes.remove(network, bytes);
      },
      leave: () => {
        if (left) return;
        left = true;
        this.#count--;
        this.#conversations.remove(network);
      },
    };
  }

  #hold(network: string, bytes: number): void {
    const { queuedBytes, queuedBytesPerNetwork } = this.#limits;
    const isCrowded = network !== '' && !this.#bytes.hasRoom(network, queuedBytesPerNetwork);
    if (isCrowded || this.#queued >= queuedBytes) throw this.#full();
    this.#queued += bytes;
    this.#bytes.add(network, bytes);
  }

  #full(): KeibiError {
    this.refused++;
    return new KeibiError('RENDEZVOUS_BUSY', 'Too many meetings take place from this network. Try again in a moment.');
  }
}

// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { NetworkCount } from './network.ts';

/** Limits for all conversations together and for one network; wider networks get a multiple (`NetworkCount`). */
export interface ConversationRoomLimits {
  conversations: number;
  conversationsPerNetwork: number;
  /** Bodies that are sent and not yet taken, in bytes. */
  queuedBytes: number;
  queuedBytesPerNetwork: number;
}

/** The room that one conversation takes. Both directions count for the network of the guest, who opened it. */
export interface ConversationPlace {
  /** Counts a queued body. @throws RENDEZVOUS_BUSY */
  hold(bytes: number): void;
  /** Uncounts a body that was taken or dropped. */
  release(bytes: number): void;
  /** Ends the conversation; bodies not yet taken still count. Idempotent. */
  leave(): void;
}

/** Counts conversations and their queued bytes, per network and in total. */
export class ConversationRoom {
  readonly #limits: ConversationRoomLimits;
  readonly #conversations = new NetworkCount();
  readonly #bytes = new NetworkCount();
  #count = 0;
  #queued = 0;
  /** Conversations refused or ended for lack of room, since the start. */
  refused = 0;

  constructor(limits: ConversationRoomLimits) {
    this.#limits = limits;
  }

  /** Current number of conversations. */
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
    return new KeibiError(
      'RENDEZVOUS_BUSY',
      'Too many meetings are in progress from this network. Try again in a moment.',
    );
  }
}

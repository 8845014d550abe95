// SPDX-License-Identifier: MPL-2.0
import { type ContactMessage, type Farewell, KeibiError, type RotationMessage } from '@keibidrop/protocol';
import type { SealedConversation } from '@keibidrop/session';

/** About an invitation, or a change of identity. */
export type ConversationMessage =
  | Extract<ContactMessage, { kind: 'invite' | 'invite-reply' | 'withdraw' }>
  | RotationMessage;

export interface ConversationOptions {
  /** True: we stay online, and ping every PING_EVERY_MS. False: we are a visitor, which only answers. */
  resident: boolean;
  onMessage(message: ConversationMessage): void;
  /** Called once, when the contact proves to be a resident. */
  onResident(): void;
  /** Called once. `farewell`: the reason that the contact has sent. */
  onEnd(farewell: Farewell | undefined): void;
}

const PING_EVERY_MS = 3000;
/** Two missed pings and half of a third. */
const SILENCE_MS = 7500;

/** One conversation with a contact. It lives as long as messages arrive. */
export class ContactConversation {
  readonly side: 'guest' | 'owner';
  readonly #conversation: SealedConversation;
  readonly #options: ConversationOptions;
  readonly #over = new AbortController();
  readonly #pinging: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout;
  #peerIsResident = false;
  #ended = false;

  /** @param conversation  owned from now on */
  constructor(conversation: SealedConversation, side: 'guest' | 'owner', options: ConversationOptions) {
    this.side = side;
    this.#conversation = conversation;
    this.#options = options;
    this.#silence = this.#listenFor();
    if (options.resident) {
      this.#pinging = setInterval(() => this.send({ kind: 'ping' }), PING_EVERY_MS);
      this.send({ kind: 'ping' });
    }
    void this.#run();
  }

  /** Whether the contact stays online and can be invited. */
  get peerIsResident(): boolean {
    return this.#peerIsResident;
  }

  /** A failed send ends the conversation. */
  send(message: ContactMessage): void {
    if (!this.#ended) this.#conversation.send(message).catch(() => this.#end(undefined));
  }

  /** Sends the reason and ends the conversation. Idempotent. */
  close(reason: Farewell): void {
    this.send({ kind: 'bye', reason });
    this.#end(undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#over;
    try {
      for (;;) this.#take(await this.#conversation.receive({ signal }));
    } catch {
      // The end of the conversation is the only report of this failure.
      this.#end(undefined);
    }
  }

  #take(message: ContactMessage): void {
    clearTimeout(this.#silence);
    this.#silence = this.#listenFor();
    if (message.kind === 'ready') throw new KeibiError('HANDSHAKE_MALFORMED');
    if (message.kind === 'bye') this.#end(message.reason);
    else if (message.kind === 'ping') this.#heardPing();
    else if (!this.#ended && ('id' in message || 'invitation' in message || isRotation(message))) {
      this.#options.onMessage(message);
    }
  }

  #heardPing(): void {
    // Two sides that both ping need no further reply.
    if (!this.#options.resident) this.send({ kind: 'pong' });
    if (this.#peerIsResident) return;
    this.#peerIsResident = true;
    this.#options.onResident();
  }

  #listenFor(): NodeJS.Timeout {
    return setTimeout(() => this.#end(undefined), SILENCE_MS);
  }

  #end(farewell: Farewell | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#silence);
    clearInterval(this.#pinging);
    this.#over.abort(new KeibiError('SESSION_CLOSED'));
    this.#conversation.close();
    this.#options.onEnd(farewell);
  }
}

export function isRotation(message: ContactMessage): message is RotationMessage {
  return message.kind.startsWith('rotate');
}

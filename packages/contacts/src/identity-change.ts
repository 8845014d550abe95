// SPDX-License-Identifier: MPL-2.0
import { KeibiError, type RotationMessage, type RotationRefusal } from '@keibidrop/protocol';
import {
  checkRotationProof,
  type IdentityKeys,
  type PublicKeys,
  proveRotation,
  type RotationProofs,
  testRotation,
} from '@keibidrop/session';
import { digestOf } from './contact.ts';

/** How a contact answers the announcement of our new identity. */
export type AnnouncementAnswer = 'taken' | RotationRefusal;
/** `lost`: the conversation ended without an answer, as with a program that does not know ROTATE. */
export type AnnouncementOutcome = AnnouncementAnswer | 'lost';

/** Decides about new keys of the contact. @returns  the reason to refuse them, or undefined */
export type KeyDecision = (keys: PublicKeys) => Promise<RotationRefusal | undefined>;

export interface IdentityChangeOptions {
  /** Our identity in this conversation. */
  self: IdentityKeys;
  /** The contact's keys, as proved in this conversation. */
  peer: PublicKeys;
  /** Our new identity, unknown to the contact; undefined: there is none. */
  announced: IdentityKeys | undefined;
  /** Whether new keys of the contact may be stored. */
  mayRenew: KeyDecision;
  /** Stores new keys that the contact has proved. */
  renew: KeyDecision;
  send(message: RotationMessage): void;
  /** Called once. */
  onAnswer(answer: AnnouncementAnswer): void;
}

/** Announces a new identity in one conversation and receives the contact's (PROTOCOL 10.6). Each at most once. */
export class IdentityChange {
  readonly #options: IdentityChangeOptions;
  #handled: Promise<void> = Promise.resolve();
  #asked = false;
  #tested: { readonly keys: PublicKeys; readonly proofs: RotationProofs } | undefined;
  #proved: RotationProofs | undefined;
  #answered = false;

  constructor(options: IdentityChangeOptions) {
    this.#options = options;
  }

  /** Whether the contact has answered our announcement. */
  get isAnswered(): boolean {
    return this.#answered;
  }

  /** Announces the new identity, if there is one. */
  announce(): void {
    const { announced, send } = this.#options;
    if (announced !== undefined)
      send({ kind: 'rotate', x25519: announced.x25519.public, kem: announced.kem.publicKey });
  }

  /**
   * Handles messages in order. @throws HANDSHAKE_MALFORMED, HANDSHAKE_TAMPERED: the conversation must end; the errors
   * of `renew`
   */
  take(message: RotationMessage): Promise<void> {
    this.#handled = this.#handled.then(() => this.#handle(message));
    return this.#handled;
  }

  #handle(message: RotationMessage): Promise<void> {
    switch (message.kind) {
      case 'rotate':
        return this.#test({ x25519: message.x25519.slice(), kem: message.kem.slice() });
      case 'rotate-proof':
        return this.#store(message.proof);
      case 'rotate-test':
        return this.#prove(message.ciphertext.slice());
      case 'rotated':
        return this.#confirmed(message.proof);
      case 'rotate-refused':
        return this.#refused(message.reason);
    }
  }

  async #test(keys: PublicKeys): Promise<void> {
    if (this.#asked) throw new KeibiError('HANDSHAKE_MALFORMED');
    this.#asked = true;
    const { self, peer, mayRenew, send } = this.#options;
    const reason = await mayRenew(keys);
    if (reason !== undefined) return send({ kind: 'rotate-refused', reason });
    const { ciphertext, proofs } = await testRotation({ former: digestOf(peer), fresh: keys, self });
    this.#tested = { keys, proofs };
    send({ kind: 'rotate-test', ciphertext });
  }

  async #store(proof: Uint8Array): Promise<void> {
    const tested = this.#tested;
    this.#tested = undefined;
    if (tested === undefined) throw new KeibiError('HANDSHAKE_MALFORMED');
    await checkRotationProof(proof, tested.proofs.announcer);
    const { renew, send } = this.#options;
    const reason = await renew(tested.keys);
    if (reason === undefined) send({ kind: 'rotated', proof: tested.proofs.contact });
    else send({ kind: 'rotate-refused', reason });
  }

  async #prove(ciphertext: Uint8Array): Promise<void> {
    const { self, peer, announced, send } = this.#options;
    if (announced === undefined || this.#proved !== undefined) throw new KeibiError('HANDSHAKE_MALFORMED');
    this.#proved = await proveRotation({ former: self.fingerprint, fresh: announced, contact: peer, ciphertext });
    send({ kind: 'rotate-proof', proof: this.#proved.announcer });
  }

  async #confirmed(proof: Uint8Array): Promise<void> {
    if (this.#proved === undefined) throw new KeibiError('HANDSHAKE_MALFORMED');
    await checkRotationProof(proof, this.#proved.contact);
    this.#answer('taken');
  }

  async #refused(reason: RotationRefusal): Promise<void> {
    if (this.#options.announced === undefined) throw new KeibiError('HANDSHAKE_MALFORMED');
    this.#answer(reason);
  }

  #answer(answer: AnnouncementAnswer): void {
    if (this.#answered) return;
    this.#answered = true;
    this.#options.onAnswer(answer);
  }
}

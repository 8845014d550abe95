// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import { formatFingerprint, isSameFingerprint, KeibiError } from '@keibidrop/protocol';
import {
  fingerprintOfKeys,
  type IdentityKeys,
  Introduction,
  introduce,
  type PublicKeys,
  type Session,
} from '@keibidrop/session';
import type { PeerEvent, SavedEvent, WarningEvent } from './events.ts';
import { isLoss } from './session-end.ts';

/** The part of the contact store that an introduction needs: see ContactStore of packages/contacts. */
export interface ContactBook {
  add(who: { name: string; fingerprint: Uint8Array; keys: PublicKeys }): Promise<unknown>;
  /** @returns  undefined if the contact was removed meanwhile */
  noteMet(
    fingerprint: Uint8Array,
    meeting: { keys: PublicKeys; paired: boolean; self: Uint8Array; at: Date },
  ): Promise<{ readonly name: string } | undefined>;
}

/** The name and place under which a peer of a session by code is saved, and our identity for it. */
export interface SaveOptions {
  name: string;
  /** The caller wipes it. */
  self: IdentityKeys;
  contacts: ContactBook;
}

/** Time limit for a sender that has begun to introduce itself. */
const PROOF_TIMEOUT_MS = 10_000;

/**
 * Saves the peer of a transfer as a contact, if both sides want that (PROTOCOL 10.4), across all sessions of the
 * transfer. The result is an event; it never ends a transfer.
 */
export class ContactIntroduction {
  readonly #options: SaveOptions;
  readonly #onEvent: (event: PeerEvent) => void;
  #introduction: Introduction | undefined;
  #keeping: Promise<void> | undefined;
  /** True once the peer is saved, or never will be. */
  #concluded = false;
  /** Held back until `connected`, which must be the first event of a session. */
  #unreported: SavedEvent | WarningEvent | undefined;
  #connected = false;
  #over = false;

  constructor(options: SaveOptions, onEvent: (event: PeerEvent) => void) {
    this.#options = options;
    this.#onEvent = onEvent;
  }

  /** The session's `connected` event was emitted. */
  connected(): void {
    this.#connected = true;
    this.#flush();
  }

  /** The sender's side: introduces us before the offer, and resolves when the introduction is over. */
  async introduce({ client, id }: Session): Promise<void> {
    if (this.#concluded) return;
    const { self } = this.#options;
    try {
      const keys = await introduce(client, { sessionId: id, self });
      if (keys === undefined)
        this.#conclude(this.#notSaved('the receiver did not ask for it. It does with --save NAME.'));
      else await this.#keep(keys);
    } catch (reason) {
      this.#fail(reason);
    }
  }

  /** The receiver's side: handlers for a session in which the sender may introduce itself. */
  awaitedIn(sessionId: Uint8Array): Pick<Introduction, 'introduce' | 'introduceProof'> {
    const introduction = new Introduction({ sessionId, self: this.#options.self });
    this.#introduction = introduction;
    introduction.done.then(
      (keys) => {
        this.#keeping = this.#keep(keys).catch((reason: unknown) => this.#fail(reason));
      },
      (reason) => this.#fail(reason),
    );
    return introduction;
  }

  /** The receiver's side, at the end of each session. After the last session no more events follow. */
  async settle({ transferDone }: { transferDone: boolean }): Promise<void> {
    const { asked = false, done = Promise.resolve() } = this.#introduction ?? {};
    const waiting = new AbortController();
    if (asked && transferDone) {
      const proved = done.then(
        () => {},
        () => {},
      );
      await Promise.race([proved, setTimeout(PROOF_TIMEOUT_MS, undefined, waiting).catch(() => {})]);
      waiting.abort();
    }
    await this.#keeping;
    if (transferDone) this.#conclude(this.#notSaved('the sender did not ask for it. It does with --save NAME.'));
    this.#over = transferDone;
  }

  async #keep(keys: PublicKeys): Promise<void> {
    const { name, self, contacts } = this.#options;
    const fingerprint = await fingerprintOfKeys(keys);
    if (isSameFingerprint(fingerprint, self.fingerprint)) {
      return this.#conclude(this.#notSaved('the other side has your own identity.'));
    }
    await contacts.add({ name, fingerprint, keys });
    const contact = await contacts.noteMet(fingerprint, {
      keys,
      paired: false,
      self: self.fingerprint,
      at: new Date(),
    });
    this.#conclude({ type: 'saved', contact: contact?.name ?? name, fingerprint: formatFingerprint(fingerprint) });
  }

  /** A lost session may return and try again. */
  #fail(reason: unknown): void {
    if (isLoss(reason)) return;
    this.#conclude(this.#notSaved(KeibiError.from(reason, 'INTERNAL').message));
  }

  #notSaved(why: string): WarningEvent {
    return { type: 'warning', message: `not saved as “${this.#options.name}”: ${why}` };
  }

  #conclude(event: SavedEvent | WarningEvent): void {
    if (this.#concluded) return;
    this.#concluded = true;
    this.#unreported = event;
    this.#flush();
  }

  #flush(): void {
    const event = this.#unreported;
    if (event === undefined || !this.#connected || this.#over) return;
    this.#unreported = undefined;
    this.#onEvent(event);
  }
}

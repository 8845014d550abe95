// SPDX-License-Identifier: MPL-2.0
import { ATTEMPT_BYTES } from '@keibidrop/protocol';
import { expand } from '../keys/hkdf.ts';
import { loadSodium, type Sodium, wipe } from '../keys/sodium.ts';

/** Length of a guest's own secret (PROTOCOL 3.2). */
export const GUEST_SECRET_BYTES = 32;

/**
 * A secret that only the two sides of a session know. With it they resume a lost session without a code (PROTOCOL 3.1).
 * It outlives the session; `wipe()` it when the session must not be resumed.
 */
export class ReturnSecret {
  /** Names the return in the new handshake and in a mailbox. Visible to others once used. */
  readonly attempt: Uint8Array;
  /** Authenticates the handshake of the new session. */
  readonly auth: Uint8Array;
  /** Derives the keys of candidates that pass through a mailbox. */
  readonly seal: Uint8Array;

  private constructor(attempt: Uint8Array, auth: Uint8Array, seal: Uint8Array) {
    this.attempt = attempt;
    this.auth = auth;
    this.seal = seal;
  }

  /** @param root  the root of the session's keys, `prk` in PROTOCOL 3 */
  static of(sodium: Sodium, root: Uint8Array): ReturnSecret {
    const derived = (what: string, length: number) => expand(sodium, root, `KeibiDrop return ${what}`, length);
    return new ReturnSecret(derived('attempt', ATTEMPT_BYTES), derived('auth', 32), derived('seal', 32));
  }

  /**
   * The secret with which a guest of a share returns (PROTOCOL 3.2).
   * @param secret  of an earlier session; the caller keeps ownership
   */
  static async ofGuest(secret: Uint8Array): Promise<ReturnSecret> {
    const sodium = await loadSodium();
    const derived = (what: string, length: number) => expand(sodium, secret, `KeibiDrop guest ${what}`, length);
    return new ReturnSecret(derived('attempt', ATTEMPT_BYTES), derived('auth', 32), derived('seal', 32));
  }

  copy(): ReturnSecret {
    return new ReturnSecret(this.attempt.slice(), this.auth.slice(), this.seal.slice());
  }

  wipe(): void {
    wipe(this.auth, this.seal);
  }
}

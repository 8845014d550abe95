// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { type Identity, IdentityStore } from '../identity/identity-store.ts';

/** As local.StatusReply names it. */
type IdentityState = 'none' | 'open' | 'closed' | 'locked' | 'failed';

const LOCKED = 'The identity is locked by a passphrase. Unlock it first: keibidrop id unlock.';

/** The identity of one configuration directory, opened once and kept in memory. */
export class IdentityKeeper {
  readonly #directory: string;
  #opened: Promise<Identity> | undefined;
  #isOpen = false;
  /** Error of the last failed attempt to open. */
  #failure: KeibiError | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Makes the identity if there is none. @throws IDENTITY_LOCKED while a passphrase locks it, IDENTITY_CORRUPT */
  open(): Promise<Identity> {
    return this.#open(() => {
      throw new KeibiError('IDENTITY_LOCKED', LOCKED);
    });
  }

  /** @throws IDENTITY_LOCKED for a wrong passphrase, IDENTITY_CORRUPT */
  unlock(passphrase: string): Promise<Identity> {
    return this.#open(() => passphrase);
  }

  /** How it is, without opening it. */
  async state(): Promise<{ state: IdentityState; reason?: string }> {
    if (this.#isOpen) return { state: 'open' };
    try {
      const lock = await this.#store(() => '').lockKind();
      if (lock === 'passphrase') return { state: 'locked', reason: LOCKED };
      if (this.#failure !== undefined) return { state: 'failed', reason: this.#failure.message };
      return { state: lock === undefined ? 'none' : 'closed' };
    } catch (reason) {
      return { state: 'failed', reason: KeibiError.from(reason, 'IDENTITY_CORRUPT').message };
    }
  }

  /** What failed is tried again. */
  #open(passphrase: () => string): Promise<Identity> {
    this.#opened ??= this.#store(passphrase)
      .open()
      .then(
        (identity) => {
          this.#isOpen = true;
          return identity;
        },
        (reason) => {
          this.#opened = undefined;
          this.#failure = KeibiError.from(reason, 'INTERNAL');
          throw reason;
        },
      );
    return this.#opened;
  }

  #store(passphrase: () => string): IdentityStore {
    return new IdentityStore({ directory: this.#directory, askPassphrase: async () => passphrase() });
  }
}

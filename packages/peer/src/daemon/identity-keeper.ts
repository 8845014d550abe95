// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { type Identity, IdentityStore } from '../identity/identity-store.ts';

/** The identity of one configuration directory, opened once and kept in memory. */
export class IdentityKeeper {
  readonly #directory: string;
  #opened: Promise<Identity> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Makes the identity if there is none. @throws IDENTITY_LOCKED while a passphrase locks it, IDENTITY_CORRUPT */
  open(): Promise<Identity> {
    return this.#open(() => {
      throw new KeibiError('IDENTITY_LOCKED', 'The identity is locked by a passphrase. Unlock it first.');
    });
  }

  /** @throws IDENTITY_LOCKED for a wrong passphrase, IDENTITY_CORRUPT */
  unlock(passphrase: string): Promise<Identity> {
    return this.#open(() => passphrase);
  }

  /** What failed is tried again. */
  #open(passphrase: () => string): Promise<Identity> {
    this.#opened ??= new IdentityStore({ directory: this.#directory, askPassphrase: async () => passphrase() })
      .open()
      .catch((reason) => {
        this.#opened = undefined;
        throw reason;
      });
    return this.#opened;
  }
}

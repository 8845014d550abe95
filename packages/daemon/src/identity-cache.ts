// SPDX-License-Identifier: MPL-2.0

import { type Contact, type FormerIdentity, IdentityStore, type OpenedIdentity } from '@keibidrop/contacts';
import { isSameFingerprint, KeibiError } from '@keibidrop/protocol';

/** As local.StatusReply names it. */
type IdentityState = 'none' | 'open' | 'closed' | 'locked' | 'failed';

const LOCKED = 'The identity is locked by a passphrase. Unlock it first: keibidrop id unlock.';

/** The identity of one configuration directory, opened once and kept in memory. */
export class IdentityCache {
  readonly #directory: string;
  #opened: Promise<OpenedIdentity> | undefined;
  #isOpen = false;
  /** Error of the last failed attempt to open. */
  #failure: KeibiError | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Opens the identity, and creates it if there is none. @throws IDENTITY_LOCKED while a passphrase locks it, IDENTITY_CORRUPT */
  open(): Promise<OpenedIdentity> {
    return this.#open(locked);
  }

  /** @throws IDENTITY_LOCKED for a wrong passphrase, IDENTITY_CORRUPT */
  unlock(passphrase: string): Promise<OpenedIdentity> {
    return this.#open(() => passphrase);
  }

  /** Opens the identity that another program has stored in place of ours; on failure ours stays. @throws as `unlock` */
  async reload(passphrase: string | undefined): Promise<OpenedIdentity> {
    const identity = await this.#store(passphrase === undefined ? locked : () => passphrase).openWithFormer();
    this.#opened = Promise.resolve(identity);
    this.#isOpen = true;
    return identity;
  }

  /**
   * Removes former identities that have expired or that no contact needs.
   *
   * @param contacts  reads the contacts; called after the identity is loaded, so that they are not older
   * @returns  the identity with the remaining ones; undefined if none was removed
   */
  async forgetFormer(contacts: () => Promise<readonly Contact[]>): Promise<OpenedIdentity | undefined> {
    const opened = this.#opened;
    const identity = await opened?.catch(() => undefined);
    if (identity === undefined || identity.former.length === 0) return undefined;
    const known = await contacts();
    const isKept = ({ keys, until }: FormerIdentity) =>
      until.getTime() > Date.now() &&
      known.some(({ knowsFormer }) => knowsFormer && isSameFingerprint(knowsFormer, keys.fingerprint));
    const former = identity.former.filter(isKept);
    if (former.length === identity.former.length || this.#opened !== opened) return undefined;
    const left = { ...identity, former };
    this.#opened = Promise.resolve(left);
    for (const each of identity.former) if (!former.includes(each)) await this.#store(locked).forget(each);
    return left;
  }

  /** The state of the identity, without opening it. */
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

  /** A failed attempt is not kept, so the next call tries again. */
  #open(passphrase: () => string): Promise<OpenedIdentity> {
    this.#opened ??= this.#store(passphrase)
      .openWithFormer()
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

function locked(): never {
  throw new KeibiError('IDENTITY_LOCKED', LOCKED);
}

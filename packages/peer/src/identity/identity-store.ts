// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import {
  drawIdentitySeed,
  IDENTITY_SEED_BYTES,
  type IdentityKeys,
  identityFromSeed,
  type LockKind,
  lockKindOf,
  openSecret,
  SEALED_OVERHEAD_BYTES,
  type SecretKey,
  sealSecret,
} from '@keibidrop/session';
import { ContactStore } from '../contacts/contact-store.ts';
import { withLock } from '../lock-file.ts';
import { readCopy, readPrivate, writePrivate } from '../private-file.ts';
import { type Keychain, systemKeychain } from './keychain.ts';

/** This peer, as its contacts know it. */
export interface Identity {
  readonly keys: IdentityKeys;
  readonly created: Date;
  readonly lock: LockKind;
}

/** The identity and contacts of an imported copy. */
export interface ImportedIdentity extends Identity {
  /** As ContactStore.copy() made them; undefined of a copy without. */
  readonly contacts: Uint8Array | undefined;
}

export interface IdentityStoreOptions {
  /** The configuration directory: `identity` and, unless something else locks it, `identity.key` stand there. */
  directory: string;
  /** Where the key of a new identity is kept, if that can be had, else in a key file; absent: the one of the system. */
  keychain?: Keychain | 'none';
  /** Asked for when the identity is locked by one. @throws IDENTITY_LOCKED if nobody can be asked */
  askPassphrase(): Promise<string>;
  /** Asked before a new identity takes the place of one that is gone; absent: it does not. @param what  a sentence about what is gone */
  confirmNew?: ((what: string) => Promise<boolean>) | undefined;
}

const KEY_BYTES = 32;
const TIME_BYTES = 8;
const SECRET_BYTES = TIME_BYTES + IDENTITY_SEED_BYTES;
const FILE_BYTES = SECRET_BYTES + SEALED_OVERHEAD_BYTES;

/** By what an identity is to be locked: a passphrase, a key file, or `best`: the keychain, else a key file. */
type NewLock = { readonly passphrase: string } | 'key' | 'best';

/** The identity of one configuration directory, sealed on its disk. */
export class IdentityStore {
  readonly #options: IdentityStoreOptions;
  readonly #keychain: Keychain | undefined;
  readonly #file: string;
  readonly #keyFile: string;

  constructor(options: IdentityStoreOptions) {
    this.#options = options;
    this.#keychain = options.keychain === 'none' ? undefined : (options.keychain ?? systemKeychain());
    this.#file = join(options.directory, 'identity');
    this.#keyFile = join(options.directory, 'identity.key');
  }

  /**
   * The identity; a new one if there never was one. A file that cannot be read is an error and stays as it is.
   *
   * @throws IDENTITY_CORRUPT, IDENTITY_LOCKED; IDENTITY_MISSING if there was one
   */
  async open(): Promise<Identity> {
    const { secret, lock } = await this.#secret();
    return identityOf(secret, lock);
  }

  /** Makes a new identity in place of the one there, locked by the passphrase or, without one, by keychain or key file. Contacts of the old one do not know it. */
  async rotate(passphrase: string | undefined): Promise<Identity> {
    const before = await this.lockKind().catch(() => undefined);
    const secret = await newSecret();
    return this.#replace(secret, passphrase === undefined ? (before === 'key' ? 'key' : 'best') : { passphrase });
  }

  /** Locks the identity by a passphrase from now on, or, without one, by a key file. */
  async lock(passphrase: string | undefined): Promise<Identity> {
    const { secret } = await this.#secret();
    return this.#replace(secret, passphrase === undefined ? 'key' : { passphrase });
  }

  /**
   * A copy for another machine, or for a drawer: always locked by a passphrase.
   *
   * @param contacts  sealed with it, so that the copy reaches them; absent: it holds none
   */
  async export(path: string, passphrase: string, contacts?: Uint8Array): Promise<void> {
    const { secret: own } = await this.#secret();
    const secret = new Uint8Array(own.length + (contacts?.length ?? 0));
    secret.set(own);
    secret.set(contacts ?? [], own.length);
    own.fill(0);
    try {
      const extended = contacts !== undefined;
      const sealed = await sealSecret(secret, { kind: 'passphrase', passphrase }, { extended });
      if (!(await writePrivate(path, sealed, { replace: false }))) {
        throw new KeibiError('USAGE', `${path} exists. Name a new file.`);
      }
    } finally {
      secret.fill(0);
    }
  }

  /**
   * Takes over an exported identity, locked by keychain or key file.
   *
   * @throws USAGE if there is no such file, or an identity already and it is not to be replaced
   */
  async import(path: string, passphrase: string, { replace }: { replace: boolean }): Promise<ImportedIdentity> {
    const copy = await readCopy(path);
    if (copy === undefined) throw new KeibiError('USAGE', `There is no file ${path}.`);
    if (!replace && (await readPrivate(this.#file)) !== undefined) {
      throw new KeibiError('USAGE', 'There is an identity already. Add --replace to give it up for the imported one.');
    }
    const opened = await openSecret(copy, { kind: 'passphrase', passphrase });
    const secret = opened.slice(0, SECRET_BYTES);
    const contacts = opened.length > SECRET_BYTES ? opened.slice(SECRET_BYTES) : undefined;
    opened.fill(0);
    return { ...(await this.#replace(secret, 'best')), contacts };
  }

  /** How the identity is locked, without opening it; undefined if there is none. */
  async lockKind(): Promise<LockKind | undefined> {
    const file = await readPrivate(this.#file);
    return file && this.#lockOf(file);
  }

  async #replace(secret: Uint8Array, newLock: NewLock): Promise<Identity> {
    const before = await this.lockKind().catch(() => undefined);
    try {
      const lock = await this.#write(secret, newLock, { replace: true });
      // Nobody who finds them later opens an older copy of the identity with them.
      if (lock !== 'key') await rm(this.#keyFile, { force: true });
      if (before === 'keychain' && lock !== 'keychain') await this.#keychain?.remove(this.#file).catch(() => {});
      return await identityOf(secret, lock);
    } finally {
      secret.fill(0);
    }
  }

  async #secret(): Promise<{ secret: Uint8Array; lock: LockKind }> {
    const file = (await readPrivate(this.#file)) ?? (await this.#first());
    const lock = await this.#lockOf(file);
    const key = await this.#key(lock);
    try {
      return { secret: await openSecret(file, key), lock };
    } finally {
      if (key.kind !== 'passphrase') key.key.fill(0);
    }
  }

  /** @throws IDENTITY_CORRUPT, with the place of the file and the ways to get it back */
  async #lockOf(file: Uint8Array): Promise<LockKind> {
    try {
      return await lockKindOf(file);
    } catch (cause) {
      if (!(cause instanceof KeibiError) || cause.code !== 'IDENTITY_CORRUPT') throw cause;
      const { length } = file;
      const what = length < FILE_BYTES ? `is cut short: it has ${length} of ${FILE_BYTES} bytes` : 'cannot be read';
      const why = length < FILE_BYTES ? '' : ` ${cause.message}`;
      throw new KeibiError('IDENTITY_CORRUPT', `${this.#file} ${what}.${why} ${waysBack('--replace ')}`, { cause });
    }
  }

  /** Another process may be quicker: what then stands there is the identity. */
  async #first(): Promise<Uint8Array> {
    // A keychain takes the last key that it is given, and a file the first identity.
    await this.#alone(async () => {
      if ((await readPrivate(this.#file)) === undefined) await this.#writeFirst();
    });
    const file = await readPrivate(this.#file);
    if (file === undefined) throw new KeibiError('IDENTITY_LOCKED', `${this.#file} was removed meanwhile.`);
    return file;
  }

  async #writeFirst(): Promise<void> {
    const left = await this.#leftOfLost();
    if (left !== undefined) {
      const what = `There is no identity at ${this.#file}, but ${left} there.`;
      const agreed = await this.#options.confirmNew?.(what);
      if (agreed !== true) throw new KeibiError('IDENTITY_MISSING', `${what} ${waysBack('')}`);
    }
    const secret = await newSecret();
    try {
      await this.#write(secret, 'best', { replace: false });
    } catch (reason) {
      // A key without an identity looks like one whose identity was lost.
      if (left === undefined) await rm(this.#keyFile, { force: true });
      throw reason;
    } finally {
      secret.fill(0);
    }
  }

  /** Names the trace of a lost identity; undefined if there is none. */
  async #leftOfLost(): Promise<string | undefined> {
    if ((await readPrivate(this.#keyFile)) !== undefined) return 'its key file is';
    const contacts = await new ContactStore(this.#options).list().catch(() => undefined);
    // Contacts by fingerprint alone may be kept before there is an identity.
    return contacts?.every(({ keys }) => keys === undefined) ? undefined : 'contacts that know it are';
  }

  async #key(lock: LockKind): Promise<SecretKey> {
    if (lock === 'passphrase') return { kind: 'passphrase', passphrase: await this.#options.askPassphrase() };
    if (lock === 'keychain') return this.#keychainKey();
    const key = await readPrivate(this.#keyFile);
    if (key?.length === KEY_BYTES) return { kind: 'key', key };
    const what = key === undefined ? 'is not there' : 'is damaged';
    throw new KeibiError(
      'IDENTITY_LOCKED',
      `The key file ${this.#keyFile} ${what}. Put it back from a copy, import an exported identity, or make a new one with keibidrop id rotate.`,
    );
  }

  async #keychainKey(): Promise<SecretKey> {
    let cause: unknown;
    try {
      const key = await this.#keychain?.read(this.#file);
      if (key?.length === KEY_BYTES) return { kind: 'keychain', key };
    } catch (reason) {
      cause = reason;
    }
    const why = cause === undefined ? 'has no key of it' : 'cannot be reached, or stays locked';
    throw new KeibiError(
      'IDENTITY_LOCKED',
      `The identity is locked by the keychain, which ${why}. Unlock the keychain, or import an exported identity.`,
      { cause },
    );
  }

  /** @returns  by what it is locked now */
  async #write(secret: Uint8Array, newLock: NewLock, options: { replace: boolean }): Promise<LockKind> {
    const key = await this.#newKey(newLock);
    try {
      await writePrivate(this.#file, await sealSecret(secret, key), options);
      return key.kind;
    } finally {
      if (key.kind !== 'passphrase') key.key.fill(0);
    }
  }

  async #newKey(newLock: NewLock): Promise<SecretKey> {
    if (typeof newLock === 'object') return { kind: 'passphrase', passphrase: newLock.passphrase };
    const kept = newLock === 'best' ? await this.#keptInKeychain() : undefined;
    return kept ?? this.#keyFileKey();
  }

  /**
   * The key that the keychain has already, which may still open what stands here, else a new one, read back before anything is sealed by
   * it; undefined if there is no keychain that keeps it.
   */
  async #keptInKeychain(): Promise<SecretKey | undefined> {
    const keychain = this.#keychain;
    if (keychain === undefined) return undefined;
    const fresh = randomBytes(KEY_BYTES);
    try {
      const found = await keychain.read(this.#file);
      if (found?.length === KEY_BYTES) return { kind: 'keychain', key: found };
      await keychain.write(this.#file, fresh);
      const key = await keychain.read(this.#file);
      return key !== undefined && fresh.equals(key) ? { kind: 'keychain', key } : undefined;
    } catch {
      return undefined;
    } finally {
      fresh.fill(0);
    }
  }

  async #alone<T>(act: () => Promise<T>): Promise<T> {
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
    return withLock(`${this.#file}.lock`, act);
  }

  /** The first to need the key file makes it. A damaged one opens nothing any more, so it goes. */
  async #keyFileKey(): Promise<SecretKey> {
    const found = await readPrivate(this.#keyFile);
    if (found?.length === KEY_BYTES) return { kind: 'key', key: found };
    const fresh = randomBytes(KEY_BYTES);
    await writePrivate(this.#keyFile, fresh, { replace: found !== undefined });
    fresh.fill(0);
    return this.#key('key');
  }
}

function waysBack(replace: '--replace ' | ''): string {
  return `Put it back from a copy, run keibidrop id import ${replace}FILE with an exported one, or make a new one with keibidrop id rotate.`;
}

async function newSecret(): Promise<Uint8Array> {
  const seed = await drawIdentitySeed();
  const secret = new Uint8Array(SECRET_BYTES);
  new DataView(secret.buffer).setBigUint64(0, BigInt(Date.now()));
  secret.set(seed, TIME_BYTES);
  seed.fill(0);
  return secret;
}

/** The keys in a secret, which is wiped. */
async function identityOf(secret: Uint8Array, lock: LockKind): Promise<Identity> {
  if (secret.length !== SECRET_BYTES) throw new KeibiError('IDENTITY_CORRUPT');
  const created = new Date(Number(new DataView(secret.buffer, secret.byteOffset).getBigUint64(0)));
  const keys = await identityFromSeed(secret.subarray(TIME_BYTES));
  secret.fill(0);
  return { keys, created, lock };
}

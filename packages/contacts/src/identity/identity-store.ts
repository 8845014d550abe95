// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileNewer, isSameFingerprint, KeibiError } from '@keibidrop/protocol';
import {
  type LockKind,
  lockKindOf,
  openSecret,
  SEALED_OVERHEAD_BYTES,
  type SecretKey,
  sealSecret,
} from '@keibidrop/session';
import { readCopy, readPrivate, withLock, writePrivate } from '@keibidrop/settings/files';
import type { Contact } from '../contact.ts';
import { ContactStore } from '../contact-store.ts';

import {
  type FormerIdentity,
  type FormerSecret,
  formerFile,
  MAX_FORMER,
  openFormer,
  removeFormer,
} from './former-identity.ts';
import { fingerprintIn, type Identity, identityOf, newSecret, SECRET_BYTES } from './identity-secret.ts';
import { type Keychain, systemKeychain } from './keychain.ts';

export type { Identity } from './identity-secret.ts';

/** An identity, with the former ones that some contact still knows it by. */
export interface OpenedIdentity extends Identity {
  readonly former: readonly FormerIdentity[];
}

/** An identity that has replaced another. */
export interface NextIdentity extends Identity {
  /** The number of contacts to whom it is announced. */
  readonly announcedTo: number;
}

/** The identity and contacts of an imported copy. */
export interface ImportedIdentity extends NextIdentity {
  /** As made by ContactStore.copy(); undefined for a copy without contacts. */
  readonly contacts: Uint8Array | undefined;
}

export interface IdentityStoreOptions {
  /** The configuration directory. It holds `identity` and, unless it is locked otherwise, `identity.key`. */
  directory: string;
  /** Where the key of a new identity is stored; if it cannot be reached, a key file is used. Absent: the system's keychain. */
  keychain?: Keychain | 'none';
  /** Called when a passphrase locks the identity. @throws IDENTITY_LOCKED if no user can be asked */
  askPassphrase(): Promise<string>;
  /** Called before a new identity replaces a lost one; absent: none is created. @param what  a sentence about the loss */
  confirmNew?: ((what: string) => Promise<boolean>) | undefined;
}

const KEY_BYTES = 32;
const FILE_BYTES = SECRET_BYTES + SEALED_OVERHEAD_BYTES;

/** How to lock an identity: a passphrase, a key file, or `best`: the keychain, else a key file. */
type NewLock = { readonly passphrase: string } | 'key' | 'best';

/** The identity of one configuration directory, sealed on its disk. */
export class IdentityStore {
  readonly #options: IdentityStoreOptions;
  readonly #keychain: Keychain | undefined;
  readonly #file: string;
  readonly #keyFile: string;
  readonly #contacts: ContactStore;

  constructor(options: IdentityStoreOptions) {
    this.#options = options;
    this.#keychain = options.keychain === 'none' ? undefined : (options.keychain ?? systemKeychain());
    this.#file = join(options.directory, 'identity');
    this.#keyFile = join(options.directory, 'identity.key');
    this.#contacts = new ContactStore(options);
  }

  /**
   * Opens the identity, or creates one if there never was one. If the file cannot be read, this throws and leaves it unchanged.
   *
   * @throws IDENTITY_CORRUPT, IDENTITY_LOCKED, FILE_NEWER; IDENTITY_MISSING if there was one
   */
  async open(): Promise<Identity> {
    const { secret, lock } = await this.#secret();
    return identityOf(secret, lock);
  }

  /** Like `open`, with the former identities. Skips one that cannot be opened, and removes one that no contact needs. */
  async openWithFormer(): Promise<OpenedIdentity> {
    const { secret, lock, former } = await this.#secret({ former: true });
    const identity = await identityOf(secret, lock);
    const needed = await this.#contacts.list().catch(() => undefined);
    const kept: FormerIdentity[] = [];
    for (const { file, until, secret: own } of former) {
      const { keys } = await identityOf(own, lock);
      const knows = ({ knowsFormer }: Contact) => knowsFormer && isSameFingerprint(knowsFormer, keys.fingerprint);
      if (needed?.some(knows) ?? true) kept.push({ keys, file, until });
      else await this.forget({ keys, file });
    }
    return { ...identity, former: kept };
  }

  /** Removes a former identity and wipes its keys. */
  async forget({ keys, file }: Pick<FormerIdentity, 'keys' | 'file'>): Promise<void> {
    keys.wipe();
    await rm(file, { force: true });
  }

  /**
   * Replaces the identity by a new one, locked by the passphrase or, without one, by keychain or key file.
   *
   * @param options.announce  false: contacts are not notified
   * @throws IDENTITY_LOCKED if the old identity must announce the new one but its passphrase is missing
   */
  async rotate(passphrase: string | undefined, { announce = true } = {}): Promise<NextIdentity> {
    const before = await this.lockKind().catch(() => undefined);
    const lock = passphrase === undefined ? (before === 'key' ? 'key' : 'best') : { passphrase };
    return this.#succeed(await newSecret(), lock, { announce });
  }

  /** Locks the identity by a passphrase or, without one, by a key file. */
  async lock(passphrase: string | undefined): Promise<Identity> {
    const { secret, former } = await this.#secret({ former: true });
    return this.#replace(secret, passphrase === undefined ? 'key' : { passphrase }, former);
  }

  /**
   * Writes a copy for another machine or as a backup, always locked by a passphrase.
   *
   * @param contacts  sealed into the copy, so that it can reach them; absent: it holds none
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
   * Takes over an exported identity, locked by keychain or key file. It is announced as by `rotate`.
   *
   * @throws USAGE if the file is missing, or an identity exists that must not be replaced
   */
  async import(
    path: string,
    passphrase: string,
    { replace, announce = true }: { replace: boolean; announce?: boolean },
  ): Promise<ImportedIdentity> {
    const copy = await readCopy(path);
    if (copy === undefined) throw new KeibiError('USAGE', `There is no file ${path}.`);
    if (!replace && (await readPrivate(this.#file)) !== undefined) {
      throw new KeibiError('USAGE', 'There is an identity already. Add --replace to give it up for the imported one.');
    }
    const opened = await openSecret(copy, { kind: 'passphrase', passphrase });
    const secret = opened.slice(0, SECRET_BYTES);
    const contacts = opened.length > SECRET_BYTES ? opened.slice(SECRET_BYTES) : undefined;
    opened.fill(0);
    return { ...(await this.#succeed(secret, 'best', { announce })), contacts };
  }

  /** Returns how the identity is locked, without opening it; undefined if there is none. */
  async lockKind(): Promise<LockKind | undefined> {
    const file = await readPrivate(this.#file);
    return file && this.#lockOf(file);
  }

  /** Replaces the identity. The old one is kept until the contacts that know it know the next one. */
  async #succeed(secret: Uint8Array, newLock: NewLock, { announce }: { announce: boolean }): Promise<NextIdentity> {
    const { directory } = this.#options;
    const { own, former } = await this.#givenUp(announce);
    const [before, after] = [own && (await fingerprintIn(own)), await fingerprintIn(secret)];
    const changes = before === undefined || !isSameFingerprint(before, after);
    const announcedTo = changes ? await this.#contacts.noteRotation(before) : 0;
    const kept = [...former];
    if (announcedTo > 0 && own !== undefined) kept.push({ ...formerFile(directory, Date.now()), secret: own });
    const latest = kept.slice(-MAX_FORMER);
    await removeFormer(
      directory,
      latest.map(({ file }) => file),
    );
    try {
      return { ...(await this.#replace(secret, newLock, latest)), announcedTo };
    } finally {
      own?.fill(0);
    }
  }

  /**
   * The identity that announces the next one; undefined if none should, or none can be opened. @throws IDENTITY_LOCKED if only
   * its passphrase is missing
   */
  async #givenUp(announce: boolean): Promise<{ own: Uint8Array | undefined; former: FormerSecret[] }> {
    const nothing = { own: undefined, former: [] };
    const lock = await this.lockKind().catch(() => undefined);
    if (!announce || lock === undefined || (await this.#contacts.list()).length === 0) return nothing;
    try {
      const { secret, former } = await this.#secret({ former: true });
      return { own: secret, former };
    } catch (cause) {
      if (lock !== 'passphrase' || !(cause instanceof KeibiError) || cause.code !== 'IDENTITY_LOCKED') return nothing;
      const text = `${cause.message} It has to announce the next one to contacts. Add --silent to give it up without that.`;
      throw new KeibiError('IDENTITY_LOCKED', text, { cause });
    }
  }

  /** @param former  resealed, because the new lock may differ */
  async #replace(secret: Uint8Array, newLock: NewLock, former: readonly FormerSecret[]): Promise<Identity> {
    const before = await this.lockKind().catch(() => undefined);
    try {
      for (const { file, secret: own } of former) await this.#write(own, newLock, { replace: true, file });
      const lock = await this.#write(secret, newLock, { replace: true });
      // Otherwise a later finder could open an older copy of the identity with these keys.
      if (lock !== 'key') await rm(this.#keyFile, { force: true });
      if (before === 'keychain' && lock !== 'keychain') await this.#keychain?.remove(this.#file).catch(() => {});
      return await identityOf(secret, lock);
    } finally {
      secret.fill(0);
      for (const { secret: own } of former) own.fill(0);
    }
  }

  async #secret({ former = false } = {}): Promise<{ secret: Uint8Array; lock: LockKind; former: FormerSecret[] }> {
    const file = (await readPrivate(this.#file)) ?? (await this.#first());
    const lock = await this.#lockOf(file);
    const key = await this.#key(lock);
    try {
      const secret = await openSecret(file, key);
      return { secret, lock, former: former ? await openFormer(this.#options.directory, key) : [] };
    } finally {
      if (key.kind !== 'passphrase') key.key.fill(0);
    }
  }

  /** @throws IDENTITY_CORRUPT, naming the file and the ways to restore it; FILE_NEWER */
  async #lockOf(file: Uint8Array): Promise<LockKind> {
    try {
      return await lockKindOf(file);
    } catch (cause) {
      if (cause instanceof KeibiError && cause.code === 'FILE_NEWER') throw fileNewer(this.#file);
      if (!(cause instanceof KeibiError) || cause.code !== 'IDENTITY_CORRUPT') throw cause;
      const { length } = file;
      const what = length < FILE_BYTES ? `is cut short: it has ${length} of ${FILE_BYTES} bytes` : 'cannot be read';
      const why = length < FILE_BYTES ? '' : ` ${cause.message}`;
      throw new KeibiError('IDENTITY_CORRUPT', `${this.#file} ${what}.${why} ${waysBack('--replace ')}`, { cause });
    }
  }

  /** Another process may be faster: its identity then counts. */
  async #first(): Promise<Uint8Array> {
    // Locked, because a keychain keeps the last key written and a file the first identity.
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
      // A key without an identity would look like a lost identity.
      if (left === undefined) await rm(this.#keyFile, { force: true });
      throw reason;
    } finally {
      secret.fill(0);
    }
  }

  /** Names the trace of a lost identity; undefined if there is none. */
  async #leftOfLost(): Promise<string | undefined> {
    if ((await readPrivate(this.#keyFile)) !== undefined) return 'its key file is';
    const contacts = await this.#contacts.list().catch(() => undefined);
    // Contacts by fingerprint alone may be saved before there is an identity.
    return contacts?.every(({ keys }) => keys === undefined) ? undefined : 'contacts that know it are';
  }

  async #key(lock: LockKind): Promise<SecretKey> {
    if (lock === 'passphrase') return { kind: 'passphrase', passphrase: await this.#options.askPassphrase() };
    if (lock === 'keychain') return this.#keychainKey();
    const key = await readPrivate(this.#keyFile);
    if (key?.length === KEY_BYTES) return { kind: 'key', key };
    const what = key === undefined ? 'is missing' : 'is damaged';
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

  /** @returns  how it is locked now */
  async #write(
    secret: Uint8Array,
    newLock: NewLock,
    { replace, file = this.#file }: { replace: boolean; file?: string },
  ): Promise<LockKind> {
    const key = await this.#newKey(newLock);
    try {
      await writePrivate(file, await sealSecret(secret, key), { replace });
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
   * The key that the keychain already has, which may still open the existing files, else a new one. A new key is read back
   * before it seals anything. Undefined without a keychain that stores it.
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

  /** Reads the key file, or creates it at first use. Replaces a damaged one, which no longer opens anything. */
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

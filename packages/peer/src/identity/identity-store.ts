// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
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
  type SecretKey,
  sealSecret,
} from '@keibidrop/session';
import { readCopy, readPrivate, writePrivate } from './private-file.ts';

/** This peer, as its contacts know it. */
export interface Identity {
  readonly keys: IdentityKeys;
  readonly created: Date;
  readonly lock: LockKind;
}

export interface IdentityStoreOptions {
  /** The configuration directory: `identity` and, unless a passphrase locks it, `identity.key` stand there. */
  directory: string;
  /** Asked for when the identity is locked by one. @throws IDENTITY_LOCKED if nobody can be asked */
  askPassphrase(): Promise<string>;
}

const KEY_BYTES = 32;
const TIME_BYTES = 8;
const SECRET_BYTES = TIME_BYTES + IDENTITY_SEED_BYTES;

/** The identity of one configuration directory, sealed on its disk. */
export class IdentityStore {
  readonly #options: IdentityStoreOptions;
  readonly #file: string;
  readonly #keyFile: string;

  constructor(options: IdentityStoreOptions) {
    this.#options = options;
    this.#file = join(options.directory, 'identity');
    this.#keyFile = join(options.directory, 'identity.key');
  }

  /**
   * The identity; a new one if there never was one. A file that cannot be read is an error and stays as it is.
   *
   * @throws IDENTITY_CORRUPT, IDENTITY_LOCKED
   */
  async open(): Promise<Identity> {
    const { secret, lock } = await this.#secret();
    return identityOf(secret, lock);
  }

  /** Makes a new identity in place of the one there, locked by the passphrase or, without one, by a key file. Contacts of the old one do not know it. */
  async rotate(passphrase: string | undefined): Promise<Identity> {
    const secret = await newSecret();
    return this.#replace(secret, passphrase);
  }

  /** Locks the identity by a passphrase from now on, or, without one, by a key file. */
  async lock(passphrase: string | undefined): Promise<Identity> {
    const { secret } = await this.#secret();
    return this.#replace(secret, passphrase);
  }

  /** A copy for another machine, or for a drawer: always locked by a passphrase. */
  async export(path: string, passphrase: string): Promise<void> {
    const { secret } = await this.#secret();
    try {
      const sealed = await sealSecret(secret, { kind: 'passphrase', passphrase });
      if (!(await writePrivate(path, sealed, { replace: false }))) {
        throw new KeibiError('USAGE', `${path} exists. Name a new file.`);
      }
    } finally {
      secret.fill(0);
    }
  }

  /**
   * Takes over an exported identity, locked by a key file.
   *
   * @throws USAGE if there is no such file, or an identity already and it is not to be replaced
   */
  async import(path: string, passphrase: string, { replace }: { replace: boolean }): Promise<Identity> {
    const copy = await readCopy(path);
    if (copy === undefined) throw new KeibiError('USAGE', `There is no file ${path}.`);
    if (!replace && (await readPrivate(this.#file)) !== undefined) {
      throw new KeibiError('USAGE', 'There is an identity already. Add --replace to give it up for the imported one.');
    }
    const secret = await openSecret(copy, { kind: 'passphrase', passphrase });
    return this.#replace(secret, undefined);
  }

  /** How the identity is locked, without opening it; undefined if there is none. */
  async lockKind(): Promise<LockKind | undefined> {
    const file = await readPrivate(this.#file);
    return file && lockKindOf(file);
  }

  async #replace(secret: Uint8Array, passphrase: string | undefined): Promise<Identity> {
    try {
      await this.#write(secret, passphrase, { replace: true });
      // Nobody who finds it later opens an older copy of the identity with it.
      if (passphrase !== undefined) await rm(this.#keyFile, { force: true });
      return await identityOf(secret, passphrase === undefined ? 'key' : 'passphrase');
    } finally {
      secret.fill(0);
    }
  }

  async #secret(): Promise<{ secret: Uint8Array; lock: LockKind }> {
    const file = (await readPrivate(this.#file)) ?? (await this.#first());
    const lock = await lockKindOf(file);
    const key = await this.#key(lock);
    try {
      return { secret: await openSecret(file, key), lock };
    } finally {
      if (key.kind === 'key') key.key.fill(0);
    }
  }

  /** Another process may be quicker: what then stands there is the identity. */
  async #first(): Promise<Uint8Array> {
    const secret = await newSecret();
    try {
      await this.#write(secret, undefined, { replace: false });
    } finally {
      secret.fill(0);
    }
    const file = await readPrivate(this.#file);
    if (file === undefined) throw new KeibiError('IDENTITY_LOCKED', `${this.#file} was removed meanwhile.`);
    return file;
  }

  async #key(lock: LockKind): Promise<SecretKey> {
    if (lock === 'passphrase') return { kind: 'passphrase', passphrase: await this.#options.askPassphrase() };
    const key = await readPrivate(this.#keyFile);
    if (key?.length === KEY_BYTES) return { kind: 'key', key };
    const what = key === undefined ? 'is not there' : 'is damaged';
    throw new KeibiError(
      'IDENTITY_LOCKED',
      `The key file ${this.#keyFile} ${what}. Put it back from a copy, import an exported identity, or make a new one with keibidrop id rotate.`,
    );
  }

  async #write(secret: Uint8Array, passphrase: string | undefined, options: { replace: boolean }): Promise<void> {
    const key = passphrase === undefined ? await this.#keyFileKey() : { kind: 'passphrase' as const, passphrase };
    try {
      await writePrivate(this.#file, await sealSecret(secret, key), options);
    } finally {
      if (key.kind === 'key') key.key.fill(0);
    }
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

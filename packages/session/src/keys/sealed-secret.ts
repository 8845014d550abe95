// SPDX-License-Identifier: MPL-2.0
import { fileNewer, KeibiError } from '@keibidrop/protocol';
import { expand, extract } from './hkdf.ts';
import { loadSodium, type Sodium, wipe } from './sodium.ts';

/**
 * The key of a secret that is stored on disk: 32 random bytes, stored beside it or in a keychain, or a person's
 * passphrase.
 */
export type SecretKey =
  | { readonly kind: 'key' | 'keychain'; readonly key: Uint8Array }
  | { readonly kind: 'passphrase'; readonly passphrase: string };
export type LockKind = SecretKey['kind'];

/**
 * | "KDID" | version 1 | lock 1 | passes 1 | MiB 2 | salt 16 | nonce 24 | sealed secret and tag | SHA-256 of all before
 * 32 |
 *
 * XChaCha20-Poly1305; all bytes before the sealed secret are its additional data. The digest is no protection: it
 * separates damage from a wrong passphrase before the user is asked for one.
 */
const MAGIC = new TextEncoder().encode('KDID');
/** Used for a secret that only this and later versions can read. */
const VERSION = 2;
const FIRST_VERSION = 1;
const LOCKS = ['key', 'passphrase', 'keychain'] as const satisfies readonly LockKind[];
const SALT_AT = 9;
const SALT_BYTES = 16;
const NONCE_AT = SALT_AT + SALT_BYTES;
const SEALED_AT = NONCE_AT + 24;
const TAG_BYTES = 16;
const DIGEST_BYTES = 32;
/** Length that sealing adds to a secret. */
export const SEALED_OVERHEAD_BYTES = SEALED_AT + TAG_BYTES + DIGEST_BYTES;
/** Above the length of any stored secret, by version. */
const MAX_SECRET_BYTES = [0, 4096, 4 * 2 ** 20] as const;

const LOCK_NAMES = { key: 'a key file', passphrase: 'a passphrase', keychain: 'the keychain' } as const;
const WRONG_KEY = {
  key: 'Its key file belongs to another identity.',
  passphrase: 'The passphrase is wrong.',
  keychain: 'The keychain has the key of another identity.',
} as const;

/** Argon2id with one lane (RFC 9106 4; OWASP recommends at least 19 MiB and 2 passes). */
const PASSES = 3;
const MEBIBYTES = 64;
/** Limits for the numbers in a file: an altered file must not exhaust memory or take hours. */
const MOST_PASSES = 16;
const MOST_MEBIBYTES = 1024;

/**
 * Seals `secret` for a file. The caller keeps ownership of both arguments.
 * @param extended  the secret holds more than an identity, which version 1 cannot read
 */
export async function sealSecret(
  secret: Uint8Array,
  lock: SecretKey,
  { extended = false }: { extended?: boolean } = {},
): Promise<Uint8Array> {
  const sodium = await loadSodium();
  const header = new Uint8Array(SEALED_AT);
  header.set(MAGIC);
  const version = extended ? VERSION : FIRST_VERSION;
  header.set([version, LOCKS.indexOf(lock.kind), PASSES, MEBIBYTES >> 8, MEBIBYTES & 0xff], MAGIC.length);
  header.set(sodium.randombytes_buf(SEALED_AT - SALT_AT), SALT_AT);
  const key = keyOf(sodium, lock, headerOf(header));
  const nonce = header.subarray(NONCE_AT);
  const sealed = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(secret, header, null, nonce, key);
  wipe(key);
  const file = new Uint8Array(header.length + sealed.length + DIGEST_BYTES);
  file.set(header);
  file.set(sealed, header.length);
  file.set(sodium.crypto_hash_sha256(file.subarray(0, -DIGEST_BYTES)), file.length - DIGEST_BYTES);
  return file;
}

/**
 * Returns how a sealed secret is locked.
 * @throws IDENTITY_CORRUPT as `openSecret`, for damage that shows without the key
 */
export async function lockKindOf(file: Uint8Array): Promise<LockKind> {
  return checked(await loadSodium(), file).lock;
}

/**
 * Opens a secret made by `sealSecret`. The caller wipes it.
 *
 * @throws IDENTITY_CORRUPT for a file of another format, a truncated or damaged file, or an unknown version;
 * IDENTITY_LOCKED for a wrong key or the wrong kind of key
 */
export async function openSecret(file: Uint8Array, lock: SecretKey): Promise<Uint8Array> {
  const sodium = await loadSodium();
  const header = checked(sodium, file);
  if (header.lock !== lock.kind) throw locked(`It is locked by ${LOCK_NAMES[header.lock]}.`);
  const key = keyOf(sodium, lock, header);
  const additional = file.subarray(0, SEALED_AT);
  const sealed = file.subarray(SEALED_AT, -DIGEST_BYTES);
  try {
    return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
      null,
      sealed,
      additional,
      file.subarray(NONCE_AT, SEALED_AT),
      key,
    );
  } catch (cause) {
    throw locked(WRONG_KEY[lock.kind], cause);
  } finally {
    wipe(key);
  }
}

interface Header {
  readonly lock: LockKind;
  readonly passes: number;
  readonly mebibytes: number;
  readonly salt: Uint8Array;
}

function headerOf(file: Uint8Array): Header {
  const [lock = 0, passes = 0, high = 0, low = 0] = file.subarray(MAGIC.length + 1);
  const salt = file.subarray(SALT_AT, NONCE_AT);
  return { lock: LOCKS[lock] as LockKind, passes, mebibytes: high * 256 + low, salt };
}

/** Runs every check that needs no key. */
function checked(sodium: Sodium, file: Uint8Array): Header {
  if (!MAGIC.every((byte, i) => file[i] === byte)) throw corrupt('This is not the file of a KeibiDrop identity.');
  const version = file[MAGIC.length];
  if (version === undefined) throw corrupt('It is cut short.');
  if (version > VERSION) throw fileNewer('The stored identity');
  if (version < FIRST_VERSION) throw corrupt(`Its format ${version} is older than any that KeibiDrop reads.`);
  const least = SEALED_OVERHEAD_BYTES;
  if (file.length < least || file.length > least + (MAX_SECRET_BYTES[version] ?? 0))
    throw corrupt('It is cut short, or too long.');
  const digest = sodium.crypto_hash_sha256(file.subarray(0, -DIGEST_BYTES));
  if (!sodium.memcmp(digest, file.subarray(-DIGEST_BYTES)))
    throw corrupt('It is damaged: some of its bytes are not what was written.');
  const header = headerOf(file);
  const { lock, passes, mebibytes } = header;
  const possible = passes >= 1 && passes <= MOST_PASSES && mebibytes >= 8 && mebibytes <= MOST_MEBIBYTES;
  if (lock === undefined || !possible) throw corrupt('It asks for something that no KeibiDrop has written.');
  return header;
}

function keyOf(sodium: Sodium, lock: SecretKey, { salt, passes, mebibytes }: Header): Uint8Array {
  const { crypto_aead_xchacha20poly1305_ietf_KEYBYTES: bytes, crypto_pwhash_ALG_ARGON2ID13: argon2id } = sodium;
  if (lock.kind !== 'passphrase') {
    const prk = extract(sodium, salt, lock.key);
    const key = expand(sodium, prk, 'KeibiDrop identity at rest', bytes);
    wipe(prk);
    return key;
  }
  return sodium.crypto_pwhash(bytes, lock.passphrase, salt, passes, mebibytes * 2 ** 20, argon2id);
}

function corrupt(what: string): KeibiError {
  return new KeibiError('IDENTITY_CORRUPT', `The stored identity cannot be read. ${what}`);
}

function locked(what: string, cause?: unknown): KeibiError {
  return new KeibiError('IDENTITY_LOCKED', `The identity is locked. ${what}`, { cause });
}

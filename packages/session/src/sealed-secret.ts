// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { expand, extract } from './hkdf.ts';
import { loadSodium, type Sodium, wipe } from './sodium.ts';

/** What opens a secret that is kept on a disk: 32 random bytes that are kept beside it or in a keychain, or what a person knows. */
export type SecretKey =
  | { readonly kind: 'key' | 'keychain'; readonly key: Uint8Array }
  | { readonly kind: 'passphrase'; readonly passphrase: string };
export type LockKind = SecretKey['kind'];

/**
 * | "KDID" | version 1 | lock 1 | passes 1 | MiB 2 | salt 16 | nonce 24 | sealed secret and tag | SHA-256 of all before 32 |
 *
 * XChaCha20-Poly1305, all before the sealed secret being its additional data. The digest is no protection: it tells damage from a wrong
 * passphrase without asking for one.
 */
const MAGIC = new TextEncoder().encode('KDID');
/** Written for a secret that only this and later versions can read. */
const VERSION = 2;
const FIRST_VERSION = 1;
const LOCKS = ['key', 'passphrase', 'keychain'] as const satisfies readonly LockKind[];
const SALT_AT = 9;
const SALT_BYTES = 16;
const NONCE_AT = SALT_AT + SALT_BYTES;
const SEALED_AT = NONCE_AT + 24;
const TAG_BYTES = 16;
const DIGEST_BYTES = 32;
/** A sealed secret is so much longer than the secret. */
export const SEALED_OVERHEAD_BYTES = SEALED_AT + TAG_BYTES + DIGEST_BYTES;
/** More than any secret that is kept so, by version. */
const MAX_SECRET_BYTES = [0, 4096, 4 * 2 ** 20] as const;

const LOCK_NAMES = { key: 'a key file', passphrase: 'a passphrase', keychain: 'the keychain' } as const;
const WRONG_KEY = {
  key: 'Its key file belongs to another identity.',
  passphrase: 'The passphrase is wrong.',
  keychain: 'The keychain has the key of another identity.',
} as const;

/** Argon2id with one lane (RFC 9106 4; OWASP asks for 19 MiB and 2 passes at least). */
const PASSES = 3;
const MEBIBYTES = 64;
/** What a file may ask for: an altered one must not take all memory, or hours. */
const MOST_PASSES = 16;
const MOST_MEBIBYTES = 1024;

/** Seals `secret` for a file. It and `lock` stay the caller's. @param extended  it holds more than an identity, which version 1 does not read */
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

/** How a sealed secret is locked. @throws IDENTITY_CORRUPT as `openSecret` does, but for what only its key can tell */
export async function lockKindOf(file: Uint8Array): Promise<LockKind> {
  return checked(await loadSodium(), file).lock;
}

/**
 * Opens what `sealSecret` made. The caller wipes it.
 *
 * @throws IDENTITY_CORRUPT for a file that is no such secret, is cut short, damaged, or of a version that is not known;
 *         IDENTITY_LOCKED for another kind of key than it was sealed with, and for a wrong one
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

/** Everything that shows without a key. */
function checked(sodium: Sodium, file: Uint8Array): Header {
  if (!MAGIC.every((byte, i) => file[i] === byte)) throw corrupt('This is no file of a KeibiDrop identity.');
  const version = file[MAGIC.length];
  if (version === undefined) throw corrupt('It is cut short.');
  if (version > VERSION)
    throw corrupt(`It was written by a later KeibiDrop (format ${version}, this one reads ${VERSION}).`);
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

// SPDX-License-Identifier: MPL-2.0
import { type Sodium, wipe } from './sodium.ts';

const HASH_BYTES = 64;
const EMPTY = new Uint8Array();

/** HMAC with SHA-512 over the concatenated `parts`. */
export function hmacSha512(sodium: Sodium, key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const state = sodium.crypto_auth_hmacsha512_init(key);
  for (const part of parts) sodium.crypto_auth_hmacsha512_update(state, part);
  return sodium.crypto_auth_hmacsha512_final(state);
}

/** SHA-512 over the concatenated `parts`. */
export function sha512(sodium: Sodium, ...parts: readonly Uint8Array[]): Uint8Array {
  const state = sodium.crypto_hash_sha512_init();
  for (const part of parts) sodium.crypto_hash_sha512_update(state, part);
  return sodium.crypto_hash_sha512_final(state);
}

/** HKDF-Extract with SHA-512 (RFC 5869 2.2). */
export function extract(sodium: Sodium, salt: Uint8Array, ...secrets: readonly Uint8Array[]): Uint8Array {
  return hmacSha512(sodium, salt, ...secrets);
}

/**
 * HKDF-Expand with SHA-512 (RFC 5869 2.3), with `label` and `context` as `info`: the Expand of PROTOCOL.
 *
 * @param length  at most 64, so that one round suffices
 */
export function expand(
  sodium: Sodium,
  key: Uint8Array,
  label: string,
  length: number,
  context: Uint8Array = EMPTY,
): Uint8Array {
  if (length > HASH_BYTES) throw new RangeError(`expand to ${length} bytes`);
  const block = hmacSha512(sodium, key, new TextEncoder().encode(label), context, Uint8Array.of(1));
  const expanded = block.slice(0, length);
  wipe(block);
  return expanded;
}

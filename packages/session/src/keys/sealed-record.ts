// SPDX-License-Identifier: MPL-2.0
import { expand } from './hkdf.ts';
import { loadSodium, wipe } from './sodium.ts';

/** | "KDGS" | version 1 | nonce 24 | sealed record and tag |, XChaCha20-Poly1305; header and name are its additional data. */
const MAGIC = new TextEncoder().encode('KDGS');
const VERSION = 1;
const NONCE_AT = MAGIC.length + 1;
const SEALED_AT = NONCE_AT + 24;
const TAG_BYTES = 16;
/** Length that sealing adds to a record. */
export const RECORD_OVERHEAD_BYTES = SEALED_AT + TAG_BYTES;

/**
 * Seals a record that a program keeps in a file.
 * @param name  of the file: under another name the record does not open
 */
export async function sealRecord(record: Uint8Array, key: Uint8Array, name: string): Promise<Uint8Array> {
  const sodium = await loadSodium();
  const header = Uint8Array.of(...MAGIC, VERSION, ...sodium.randombytes_buf(SEALED_AT - NONCE_AT));
  const { additional, own } = derived(sodium, key, header, name);
  const nonce = header.subarray(NONCE_AT);
  const sealed = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(record, additional, null, nonce, own);
  wipe(own);
  const file = new Uint8Array(header.length + sealed.length);
  file.set(header);
  file.set(sealed, header.length);
  return file;
}

/** Whether only later versions of this program can open the record. */
export function isNewerRecord(file: Uint8Array): boolean {
  return MAGIC.every((byte, i) => file[i] === byte) && (file[MAGIC.length] ?? 0) > VERSION;
}

/** Opens a record made by `sealRecord`; returns undefined for anything else. The caller wipes it. */
export async function openRecord(file: Uint8Array, key: Uint8Array, name: string): Promise<Uint8Array | undefined> {
  const sodium = await loadSodium();
  if (file.length < RECORD_OVERHEAD_BYTES || file[MAGIC.length] !== VERSION) return undefined;
  if (!MAGIC.every((byte, i) => file[i] === byte)) return undefined;
  const header = file.subarray(0, SEALED_AT);
  const { additional, own } = derived(sodium, key, header, name);
  const nonce = header.subarray(NONCE_AT);
  try {
    const sealed = file.subarray(SEALED_AT);
    return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(null, sealed, additional, nonce, own);
  } catch {
    return undefined;
  } finally {
    wipe(own);
  }
}

function derived(sodium: Awaited<ReturnType<typeof loadSodium>>, key: Uint8Array, header: Uint8Array, name: string) {
  const additional = Uint8Array.of(...header, ...new TextEncoder().encode(name));
  return { additional, own: expand(sodium, key, 'KeibiDrop known at rest', 32) };
}

// SPDX-License-Identifier: MPL-2.0
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { KeibiError } from './errors.ts';

/** SHA-512 of a peer's public keys (PROTOCOL 9). */
export const FINGERPRINT_BYTES = 64;

/** Eight words are 88 bits, so another key with the same phrase cannot be found. */
const PHRASE_WORDS = 8;
const BITS_PER_WORD = 11;
/** 64 bytes in base64url without padding. The last character holds two bits, so only four characters are possible. */
const FINGERPRINT = /^[A-Za-z0-9_-]{85}[AQgw]$/;
const FINGERPRINT_LINK = 'keibidrop://id/';

/** A fingerprint as 86 characters of base64url (RFC 4648 5). */
export function formatFingerprint(fingerprint: Uint8Array): string {
  return btoa(String.fromCharCode(...fingerprint))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/**
 * Reads a fingerprint or its link, with white space around or inside it.
 *
 * @throws USAGE
 */
export function parseFingerprint(text: string): Uint8Array {
  const joined = text.replaceAll(/\s/g, '');
  const bare = joined.startsWith(FINGERPRINT_LINK) ? joined.slice(FINGERPRINT_LINK.length) : joined;
  if (!FINGERPRINT.test(bare)) {
    throw new KeibiError(
      'USAGE',
      'That is not a fingerprint: it has 86 letters, digits, - and _. Copy the whole of it.',
    );
  }
  return Uint8Array.from(atob(bare.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
}

export function isSameFingerprint(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

/** The link in a fingerprint's QR code. */
export function fingerprintLink(fingerprint: Uint8Array): string {
  return FINGERPRINT_LINK + formatFingerprint(fingerprint);
}

/** The first 88 bits of a fingerprint as 8 words of the BIP-39 list, to read aloud and compare. */
export function fingerprintPhrase(fingerprint: Uint8Array): string {
  const bits = [...fingerprint.subarray(0, PHRASE_WORDS * 2)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const words = Array.from({ length: PHRASE_WORDS }, (_, i) => {
    const index = Number.parseInt(bits.slice(i * BITS_PER_WORD, (i + 1) * BITS_PER_WORD), 2);
    return wordlist[index] as string;
  });
  return words.join(' ');
}

// SPDX-License-Identifier: MPL-2.0
import { KeibiError, messageFor } from '../errors.ts';
import { MAX_NAME_BYTES } from '../limits.ts';

/** Prefix of a receiver's staging files, forbidden for top-level names (PROTOCOL 6). */
export const STAGING_PREFIX = '.keibidrop-partial';

// `ignoreBOM` keeps a leading U+FEFF, which is part of the name.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Checks one name of a path and returns it as a string (PROTOCOL 6).
 *
 * @param name   UTF-8 bytes from the wire, or a string of this machine
 * @param where  `top`: it is a top-level name; `entry`: its number, for the message
 * @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED; the message gives the entry's number and the name in printable form
 */
export function checkName(name: Uint8Array | string, where: { top: boolean; entry: number }): string {
  const text = typeof name === 'string' ? name : decodeUtf8(name, where.entry);
  const bytes = typeof name === 'string' ? utf8Length(name) : name.length;
  if (bytes === undefined) throw refused(where.entry, `its name ${printable(text)} is not Unicode`);
  if (bytes > MAX_NAME_BYTES) throw tooLong(where.entry, `its name has ${bytes} bytes, over ${MAX_NAME_BYTES}`);
  if (bytes === 0) throw refused(where.entry, 'its name is empty');
  if (text === '.' || text === '..') throw refused(where.entry, `it is named ${text}`);
  if (text.includes('/') || text.includes('\0')) {
    throw refused(where.entry, `its name ${printable(text)} holds a slash or a NUL`);
  }
  if (where.top && text.startsWith(STAGING_PREFIX))
    throw refused(where.entry, `its name begins with ${STAGING_PREFIX}`);
  return text;
}

/**
 * Folds a name: two names of one directory with the same result clash on a file system that ignores case and normal form.
 *
 * Close to APFS and NTFS, and never finer: names that differ here also differ there, except for rare full case foldings.
 */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Decodes UTF-8 and refuses invalid bytes. */
export function decodeUtf8(bytes: Uint8Array, entry: number): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw refused(entry, 'its text is not UTF-8', cause);
  }
}

/** Makes a name safe to show: quoted, with control characters and the like escaped, at most 80 characters. */
export function printable(text: string): string {
  const safe = text.replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
  return `"${safe.length > 80 ? `${safe.slice(0, 79)}…` : safe}"`;
}

/** The error for an entry that must not be written. */
export function refused(entry: number, why: string, cause?: unknown): KeibiError {
  return new KeibiError('TRANSFER_PATH_REFUSED', messageFor('TRANSFER_PATH_REFUSED', `Entry ${entry}, ${why}`), {
    cause,
    detail: { entry },
  });
}

/** The error for an entry beyond a limit of PROTOCOL 1. */
export function tooLong(entry: number, why: string): KeibiError {
  return new KeibiError('TRANSFER_LIMIT_EXCEEDED', messageFor('TRANSFER_LIMIT_EXCEEDED', `Entry ${entry}, ${why}`), {
    detail: { entry },
  });
}

/** The length of `text` in UTF-8; undefined if it has a lone surrogate, which an encoder would replace. */
export function utf8Length(text: string): number | undefined {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    if ((unit & 0xf800) !== 0xd800) continue;
    const next = text.charCodeAt(i + 1);
    if (unit >= 0xdc00 || (next & 0xfc00) !== 0xdc00) return undefined;
    i++;
  }
  return bytes;
}

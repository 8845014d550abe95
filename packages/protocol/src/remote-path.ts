// SPDX-License-Identifier: MPL-2.0
import { KeibiError, messageFor } from './errors.ts';
import { MAX_NAME_BYTES } from './limits.ts';

/** What a receiver's own staging begins with, so no top-level name may (PROTOCOL 6). */
export const STAGING_PREFIX = '.keibidrop-partial';

// `ignoreBOM` keeps a leading U+FEFF, which is a part of the name.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Checks one name of a path and returns it as a string (PROTOCOL 6).
 *
 * @param name   as UTF-8 bytes from the wire, or as a string from this machine
 * @param where  `top`: it stands at the top of the transfer; `entry`: its number, for the message
 * @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED; the message names the entry and, made printable, the name
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
 * The form of a name in which two names of one directory clash where the file system folds case and normal forms.
 *
 * Close to what APFS and NTFS do, and never finer: names it keeps apart are apart there too, save for exotic full foldings.
 */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Decodes UTF-8, refusing what is not. */
export function decodeUtf8(bytes: Uint8Array, entry: number): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw refused(entry, 'its text is not UTF-8', cause);
  }
}

/** A name as it may be shown: quoted, with control characters and the like escaped, at most 80 characters. */
export function printable(text: string): string {
  const safe = text.replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
  return `"${safe.length > 80 ? `${safe.slice(0, 79)}…` : safe}"`;
}

/** The error of an entry that must not be written. */
export function refused(entry: number, why: string, cause?: unknown): KeibiError {
  return new KeibiError('TRANSFER_PATH_REFUSED', messageFor('TRANSFER_PATH_REFUSED', `Entry ${entry}, ${why}`), {
    cause,
    detail: { entry },
  });
}

/** The error of an entry beyond a limit of PROTOCOL 1. */
export function tooLong(entry: number, why: string): KeibiError {
  return new KeibiError('TRANSFER_LIMIT_EXCEEDED', messageFor('TRANSFER_LIMIT_EXCEEDED', `Entry ${entry}, ${why}`), {
    detail: { entry },
  });
}

/** The bytes of `text` in UTF-8; undefined if a lone surrogate, which has none, would come out as another character. */
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

// SPDX-License-Identifier: MPL-2.0
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { KeibiError } from './errors.ts';
import { MIN_CODE_BITS } from './limits.ts';
import { withoutObvious } from './obvious-words.ts';

/** The short secret two people share (PROTOCOL 2.2). `text` is its canonical spelling: `7-guitar-pencil`. */
export interface Code {
  /** The public part, 1 to 9 digits, which names the mailbox. */
  readonly nameplate: string;
  /** The secret part, 2 to 16 words of a-z and 0-9. */
  readonly words: readonly string[];
  readonly text: string;
}

const MIN_WORDS = 2;
const MAX_WORDS = 16;
const NAMEPLATE = /^[0-9]{1,9}$/;
const WORD = /^[a-z0-9]{1,32}$/;

/** Strength of a word drawn from the BIP-39 English list of 2048. */
const LISTED_WORD_BITS = 11;
/** Chosen words may come from a list of phrases; this many are in no such list. */
const MIN_CHOSEN_WORDS = 4;
const MIN_CHOSEN_CHARACTERS = 3;
const listedWords = new Set(wordlist);

/** The link that opens a code in KeibiDrop, as in its QR code. */
export function codeLink(code: string): string {
  return `keibidrop://receive/${code}`;
}

/**
 * Reads a code as people type it: in any case, with spaces or dashes between its parts.
 *
 * @throws CODE_MALFORMED with a sentence that does not repeat the code
 */
export function parseCode(text: string): Code {
  const [nameplate = '', ...words] = text
    .trim()
    .toLowerCase()
    .split(/\s*-\s*|\s+/);
  if (!NAMEPLATE.test(nameplate)) throw malformed('it begins with a number of at most nine digits');
  if (words.length < MIN_WORDS || words.length > MAX_WORDS) {
    throw malformed(`after its number it has ${MIN_WORDS} to ${MAX_WORDS} words`);
  }
  if (!words.every((word) => WORD.test(word))) {
    throw malformed('its words are made of 1 to 32 letters a to z and digits');
  }
  return codeOf(nameplate, words);
}

/**
 * Draws a code of `wordCount` different listed words.
 *
 * @param randomBytes  a cryptographic source
 */
export function createCode(options: {
  nameplate: string;
  wordCount: number;
  randomBytes: (length: number) => Uint8Array;
}): Code {
  const { nameplate, wordCount, randomBytes } = options;
  if (!NAMEPLATE.test(nameplate)) throw malformed('it begins with a number of at most nine digits');
  if (!Number.isInteger(wordCount) || wordCount < MIN_WORDS || wordCount > MAX_WORDS) {
    throw malformed(`after its number it has ${MIN_WORDS} to ${MAX_WORDS} words`);
  }
  const bytes = randomBytes(4 * wordCount);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pool = [...wordlist];
  const words: string[] = [];
  // 32 random bits modulo at most 2048 deviate from uniform by less than 2^-21.
  for (let i = 0; i < wordCount; i++) words.push(...pool.splice(view.getUint32(4 * i) % pool.length, 1));
  bytes.fill(0);
  return codeOf(nameplate, words);
}

/**
 * Estimates the strength of a code's words, in bits.
 *
 * A listed word counts as randomly drawn. Any other word counts as chosen by a person (NIST SP 800-63-1 A.2.1):
 * 4 bits for its first character, 2 for each of the next seven, 1.5 up to the twentieth, then 1. It counts nothing if it has
 * under three characters or the code has under four words. Repeated words, and listed words that people often combine, count once.
 */
export function codeBits({ words }: Code): number {
  let bits = 0;
  for (const word of withoutObvious([...new Set(words)])) {
    if (listedWords.has(word)) bits += LISTED_WORD_BITS;
    else if (words.length >= MIN_CHOSEN_WORDS) bits += chosenWordBits(word.length);
  }
  return bits;
}

/** @throws CODE_TOO_WEAK under `MIN_CODE_BITS` */
export function assertCodeStrength(code: Code): void {
  if (codeBits(code) < MIN_CODE_BITS) throw new KeibiError('CODE_TOO_WEAK');
}

/** The name of a nameplate's mailbox: a SHA-256 as lower-case hex (PROTOCOL 2.2). */
export function mailboxOf(nameplate: string): string {
  return bytesToHex(sha256(utf8ToBytes(`KeibiDrop mailbox v1${nameplate}`)));
}

function chosenWordBits(length: number): number {
  if (length < MIN_CHOSEN_CHARACTERS) return 0;
  const next = Math.min(length - 1, 7);
  const later = Math.min(Math.max(length - 8, 0), 12);
  return 4 + 2 * next + 1.5 * later + Math.max(length - 20, 0);
}

function codeOf(nameplate: string, words: readonly string[]): Code {
  return { nameplate, words, text: [nameplate, ...words].join('-') };
}

function malformed(rule: string): KeibiError {
  return new KeibiError(
    'CODE_MALFORMED',
    `That is not a code: ${rule}, as in 7-guitar-pencil. Check it with the sender.`,
  );
}

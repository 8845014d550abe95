// SPDX-License-Identifier: MPL-2.0
import { sha512 } from '../keys/hkdf.ts';
import { type Sodium, wipe } from '../keys/sodium.ts';

// CPace with ristretto255 and SHA-512 (CPACE-RISTR255-SHA512): the functions of draft-irtf-cfrg-cpace-21, under its names.

const DSI = utf8('CPaceRistretto255');
const DSI_ISK = utf8('CPaceRistretto255_ISK');
/** H.s_in_bytes of SHA-512. */
const HASH_BLOCK_BYTES = 128;

export interface GeneratorInputs {
  /** The password. */
  readonly prs: Uint8Array;
  /** The channel identifier. */
  readonly ci: Uint8Array;
  readonly sid: Uint8Array;
}

/** `prepend_len`: the length as LEB128, then the bytes (draft 6.3). */
export function prependLen(bytes: Uint8Array): Uint8Array {
  const prefix: number[] = [];
  let rest = bytes.length;
  for (; rest >= 0x80; rest >>>= 7) prefix.push((rest & 0x7f) | 0x80);
  return concat(Uint8Array.of(...prefix, rest), bytes);
}

/** `lv_cat`: each part with its length in front (draft 6.3). */
export function lvCat(...parts: readonly Uint8Array[]): Uint8Array {
  return concat(...parts.map(prependLen));
}

/** `generator_string`, padded so that a password of any length fills the first hash block (draft 8.1). */
export function generatorString({ prs, ci, sid }: GeneratorInputs): Uint8Array {
  const padBytes = Math.max(0, HASH_BLOCK_BYTES - prependLen(prs).length - prependLen(DSI).length - 1);
  return lvCat(DSI, prs, new Uint8Array(padBytes), ci, sid);
}

/** `G.calculate_generator`, encoded (draft 8.3). */
export function calculateGenerator(sodium: Sodium, inputs: GeneratorInputs): Uint8Array {
  const string = generatorString(inputs);
  const hash = sha512(sodium, string);
  const generator = sodium.crypto_core_ristretto255_from_hash(hash);
  wipe(string, hash);
  return generator;
}

/** `G.sample_scalar`, uniform from 1 to the group's order less one (draft 8.3). */
export function sampleScalar(sodium: Sodium): Uint8Array {
  return sodium.crypto_core_ristretto255_scalar_random();
}

/** `G.scalar_mult` (draft 8.3). */
export function scalarMult(sodium: Sodium, scalar: Uint8Array, generator: Uint8Array): Uint8Array {
  return sodium.crypto_scalarmult_ristretto255(scalar, generator);
}

/**
 * `G.scalar_mult_vfy` (draft 8.3).
 *
 * @returns  undefined for the draft's G.I, on which the protocol aborts: `share` is no valid encoding or the neutral
 * element
 */
export function scalarMultVfy(sodium: Sodium, scalar: Uint8Array, share: Uint8Array): Uint8Array | undefined {
  if (!sodium.crypto_core_ristretto255_is_valid_point(share) || sodium.is_zero(share)) return undefined;
  return sodium.crypto_scalarmult_ristretto255(scalar, share);
}

/** `transcript_ir`: both messages, the initiator's first (draft 6.3). */
export function transcriptIr(ya: Uint8Array, ada: Uint8Array, yb: Uint8Array, adb: Uint8Array): Uint8Array {
  return concat(lvCat(ya, ada), lvCat(yb, adb));
}

/** ISK, the intermediate session key of 64 bytes (draft 7.2). */
export function intermediateSessionKey(
  sodium: Sodium,
  { sid, k, transcript }: { sid: Uint8Array; k: Uint8Array; transcript: Uint8Array },
): Uint8Array {
  const secretPart = lvCat(DSI_ISK, sid, k);
  const isk = sha512(sodium, secretPart, transcript);
  wipe(secretPart);
  return isk;
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

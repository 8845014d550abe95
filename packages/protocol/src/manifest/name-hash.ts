// SPDX-License-Identifier: MPL-2.0

/**
 * HalfSipHash-2-4 with 32 bits of output. Without the key, collisions cannot be prepared.
 *
 * Hashes the word `first` as four little-endian bytes, followed by `length` of `bytes` from `start`.
 *
 * @param key  two random words
 * @see        Aumasson and Bernstein, SipHash, and its reference code halfsiphash.c
 */
export function halfSipHash(key: Uint32Array, first: number, bytes: Uint8Array, start: number, length: number): number {
  const v = state;
  v[0] = v[2] = key[0] as number;
  v[1] = v[3] = key[1] as number;
  v[2] ^= 0x6c796765;
  v[3] ^= 0x74656462;

  absorb(v, first);
  const wholeEnd = start + (length & ~3);
  for (let at = start; at < wholeEnd; at += 4) absorb(v, wordAt(bytes, at, 4));
  absorb(v, ((length + 4) << 24) | wordAt(bytes, wholeEnd, length & 3));

  v[2] ^= 0xff;
  for (let i = 0; i < 4; i++) mix(v);
  return ((v[1] as number) ^ (v[3] as number)) >>> 0;
}

/** Scratch space; only one call runs at a time. */
const state = new Int32Array(4) as Int32Array & [number, number, number, number];

function absorb(v: typeof state, word: number): void {
  v[3] ^= word;
  mix(v);
  mix(v);
  v[0] ^= word;
}

function mix(v: typeof state): void {
  v[0] += v[1];
  v[1] = rotated(v[1], 5) ^ v[0];
  v[0] = rotated(v[0], 16);
  v[2] += v[3];
  v[3] = rotated(v[3], 8) ^ v[2];
  v[0] += v[3];
  v[3] = rotated(v[3], 7) ^ v[0];
  v[2] += v[1];
  v[1] = rotated(v[1], 13) ^ v[2];
  v[2] = rotated(v[2], 16);
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function wordAt(bytes: Uint8Array, at: number, count: number): number {
  let word = 0;
  for (let i = 0; i < count; i++) word |= (bytes[at + i] as number) << (8 * i);
  return word;
}

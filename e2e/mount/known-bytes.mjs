// SPDX-License-Identifier: MPL-2.0

// What tests write and know again: the bytes of record N, or of a file at a position.

/** `bytes` bytes that only `number` has: four of it, then of a generator that begins with it. A multiple of four. */
export function recordOf(number, bytes) {
  const words = new Uint32Array(bytes / 4);
  words[0] = number;
  let state = number + 1;
  for (let i = 1; i < words.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    words[i] = state;
  }
  return Buffer.from(words.buffer);
}

/** The number of the record that these bytes are; undefined if they are none. */
export function numberOf(bytes) {
  const number = bytes.length >= 4 ? bytes.readUInt32LE(0) : undefined;
  return number !== undefined && recordOf(number, bytes.length).equals(bytes) ? number : undefined;
}

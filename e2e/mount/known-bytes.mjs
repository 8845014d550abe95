// SPDX-License-Identifier: MPL-2.0

// Bytes that tests write and recognise later: the content of record N, or of a file at a position.

/**
 * `bytes` bytes that are unique to `number`: the number in four bytes, then a generator seeded by it. `bytes` is a
 * multiple of 4.
 */
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

/** The number of the record with these bytes; undefined if they are no record. */
export function numberOf(bytes) {
  const number = bytes.length >= 4 ? bytes.readUInt32LE(0) : undefined;
  return number !== undefined && recordOf(number, bytes.length).equals(bytes) ? number : undefined;
}

// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';

/** A file of test/vectors, which C++ reads as well. */
export function readVectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`vectors/${name}.json`, import.meta.url), 'utf8'));
}

/** Decodes a hex dump with spaces between its fields. */
export function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

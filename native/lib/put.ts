// SPDX-License-Identifier: MPL-2.0
import type { ByteRange, FileVersion } from '@keibidrop/protocol';
import { assertBoolean, assertBytes, assertInteger, assertText, misuse } from './arguments.ts';

/** The version that a put applies to (PROTOCOL 11.2). */
export interface PutBase {
  /** Absent: any version. */
  base?: FileVersion | undefined;
  /** Identifies the overlay; 16 bytes. */
  token: Uint8Array;
  /** Bytes of the base that are still valid. */
  keep: number;
}

/** The version of the file after a put. */
export interface PutFinish extends FileVersion {
  /** Sync the file to the disk. */
  sync: boolean;
}

/** The bytes to write: ranges of `KEY.data` in `directory`, at the same offsets. */
export interface PutContent {
  directory: string;
  /** 32 hexadecimal digits. */
  key: string;
  /** Ascending and disjoint. */
  ranges: readonly ByteRange[];
}

export type NativeBase = [baseSize: number, baseMtimeNs: bigint, token: Uint8Array, keep: number];
export type NativeFinish = [size: number, mtimeNs: bigint, sync: boolean];
export type NativeContent = [directory: string, key: string, ranges: Float64Array];

/** Ranges of one put. */
const MAX_RANGES = 65_536;
const KEY = /^[0-9a-f]{32}$/;

export function checkedBase({ base, token, keep }: PutBase): NativeBase {
  assertBytes('token', token, 16);
  assertInteger('keep', keep, 0, Number.MAX_SAFE_INTEGER);
  if (base === undefined) return [-1, 0n, token, keep];
  assertInteger('base.size', base.size, 0, Number.MAX_SAFE_INTEGER);
  return [base.size, checkedTime(base.mtimeNs), token, keep];
}

export function checkedFinish({ size, mtimeNs, sync }: PutFinish): NativeFinish {
  assertInteger('size', size, 0, Number.MAX_SAFE_INTEGER);
  assertBoolean('sync', sync);
  return [size, checkedTime(mtimeNs), sync];
}

export function checkedContent({ directory, key, ranges }: PutContent): NativeContent {
  assertText('directory', directory);
  if (!KEY.test(key)) throw misuse('key must be 32 hexadecimal digits');
  if (ranges.length > MAX_RANGES) throw misuse(`ranges must be at most ${MAX_RANGES}`);
  const numbers = new Float64Array(2 * ranges.length);
  for (const [i, { offset, length }] of ranges.entries()) {
    assertInteger('offset', offset, 0, Number.MAX_SAFE_INTEGER);
    assertInteger('length', length, 1, Number.MAX_SAFE_INTEGER - offset);
    numbers.set([offset, length], 2 * i);
  }
  return [directory, key, numbers];
}

/** A time in nanoseconds since 1970, checked for native code. */
export function checkedTime(mtimeNs: bigint): bigint {
  if (typeof mtimeNs !== 'bigint' || BigInt.asIntN(64, mtimeNs) !== mtimeNs) throw misuse('mtimeNs must fit 64 bits');
  return mtimeNs;
}

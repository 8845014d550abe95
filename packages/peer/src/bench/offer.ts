// SPDX-License-Identifier: MPL-2.0
import type { Root } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';

/** Shorter files measure the clock and the gap between files; longer ones only take time. */
const MIN_SIZE = 8 * 2 ** 20;
const MAX_SIZE = 16 * 2 ** 30;
const STEP = 4 * 2 ** 20;

/**
 * The files that the waiting side of a bench offers, in this order. The warm-up fills all lanes and brings TCP to speed. Then
 * follow a file from memory, one from its disk, and one from its disk that the other side writes to its own.
 */
export const BENCH_FILES = ['warm-up', 'link', 'reading', 'whole'] as const;
export type BenchFile = (typeof BENCH_FILES)[number];

/**
 * The size to measure with. It is rounded up to whole steps, since each file's size is derived from the total. @throws USAGE
 * out of range
 */
export function benchSize(asked: number): number {
  if (!(asked >= MIN_SIZE && asked <= MAX_SIZE)) throw new KeibiError('USAGE', '--size must be from 8M to 16G.');
  return Math.ceil(asked / STEP) * STEP;
}

/** @param onDisk  existing files of `size` bytes each */
export function benchRoots(size: number, onDisk: { reading: string; whole: string }): Root[] {
  return [
    { name: 'warm-up', path: '', generatedBytes: size / 4 },
    { name: 'link', path: '', generatedBytes: size },
    { name: 'reading', path: onDisk.reading },
    { name: 'whole', path: onDisk.whole },
  ];
}

/** The size of each file of an offer; undefined if the offer is no bench. */
export function sizeOfOffer(offer: {
  files: number;
  nameCount: number;
  names: string[];
  bytes: number;
  text?: boolean;
}) {
  const size = (offer.bytes / 13) * 4;
  const isBench =
    offer.files === BENCH_FILES.length &&
    offer.nameCount === offer.files &&
    offer.names.join() === BENCH_FILES.join() &&
    !offer.text;
  return isBench && size >= MIN_SIZE && size <= MAX_SIZE && size % STEP === 0 ? size : undefined;
}

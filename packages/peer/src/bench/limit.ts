// SPDX-License-Identifier: MPL-2.0
import type { BenchPart, LimitEvent } from './api.ts';

export interface Rate {
  part: BenchPart;
  bytesPerSecond: number;
}

export interface Whole {
  bytesPerSecond: number;
  seconds: number;
}

/** If the whole is below this share of its slowest part, no single part limits it: they all share the machine. */
const SHARING = 0.7;
/** The start and end of a transfer take tens of milliseconds and dominate a shorter whole. */
const TELLING_SECONDS = 0.25;
/** A link this close to the cipher's speed is limited by the cipher; moving the bytes costs the rest. */
const CIPHER_BOUND = 0.7;
/** The peer's disk is read through the link, so only a clearly lower rate is due to the disk. */
const SAME = 0.9;

/**
 * Finds the limiting part.
 *
 * @param parts  all parts that every byte of a transfer passes, each measured alone; not empty
 * @param whole  the rate of a real transfer, from end to end
 */
export function limitOf(parts: readonly Rate[], { bytesPerSecond: whole, seconds }: Whole): Omit<LimitEvent, 'type'> {
  const slowestFirst = distinct(parts).sort((a, b) => a.bytesPerSecond - b.bytesPerSecond);
  const [slowest, next] = slowestFirst as [Rate, Rate?];
  if (seconds >= TELLING_SECONDS && whole < SHARING * slowest.bytesPerSecond) {
    return { part: 'sharing', bytesPerSecond: whole, next: slowest, wholeBytesPerSecond: whole };
  }
  const cipher = parts.find(({ part }) => part === 'open' || part === 'seal');
  const part = slowest.part === 'link' && cipher && isBoundBy(cipher, slowest) ? cipher.part : slowest.part;
  const after =
    next === undefined || next.part === part
      ? slowestFirst.find((rate) => rate.part !== part && rate !== slowest)
      : next;
  const { bytesPerSecond } = slowest;
  return { part, bytesPerSecond, ...(after && { next: after }), wholeBytesPerSecond: whole };
}

function isBoundBy(cipher: Rate, link: Rate): boolean {
  return link.bytesPerSecond > CIPHER_BOUND * cipher.bytesPerSecond;
}

function distinct(parts: readonly Rate[]): Rate[] {
  const link = parts.find(({ part }) => part === 'link')?.bytesPerSecond ?? Number.POSITIVE_INFINITY;
  return parts.filter(({ part, bytesPerSecond }) => part !== 'peerRead' || bytesPerSecond < SAME * link);
}

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

/** A whole below this share of its slowest part is held up by no part but by all of them running at once. */
const SHARING = 0.7;
/** A whole that took less is told by how a transfer begins and ends, which costs tens of milliseconds, rather than by its bytes. */
const TELLING_SECONDS = 0.25;
/** A link this near to the cipher's speed is not slower than the cipher: the rest is what moving costs. */
const CIPHER_BOUND = 0.7;
/** The peer's disk is read through the link: only what is clearly slower than the link is the disk's doing. */
const SAME = 0.9;

/**
 * Says which of the parts limits.
 *
 * @param parts  what every byte of a transfer passes, each measured alone; not empty
 * @param whole  what a transfer made of it, from end to end
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

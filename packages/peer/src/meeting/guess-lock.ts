// SPDX-License-Identifier: MPL-2.0
import { MAX_WRONG_GUESSES } from '@keibidrop/protocol';

const FIRST_LOCK_MS = 60_000;
/** The longest lock. Strangers cannot close a share for good: after this time they have one guess a day. */
const LONGEST_LOCK_MS = 24 * 60 * 60_000;

/** Counts wrong guesses at a permanent code. After three it is locked for a minute, and twice as long after each further one. */
export class GuessLock {
  readonly #now: () => number;
  #wrong = 0;
  #until = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isLocked(): boolean {
    return this.#now() < this.#until;
  }

  /** Counts a wrong guess. @returns  the lock in milliseconds; 0 while guesses are left */
  wrong(): number {
    const locks = ++this.#wrong - MAX_WRONG_GUESSES;
    if (locks < 0) return 0;
    const ms = Math.min(FIRST_LOCK_MS * 2 ** locks, LONGEST_LOCK_MS);
    this.#until = this.#now() + ms;
    return ms;
  }
}

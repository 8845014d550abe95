// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { NetworkCount } from './network.ts';

const WINDOW_MS = 60_000;

/**
 * Limits the misses a minute of each network that tries out mailboxes, and of the networks around it. One that had them gets nothing
 * more, right or wrong, until the minute is over. This process (`''`) has no limit.
 */
export class GuessLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  #misses = new NetworkCount();
  #windowEnd = 0;
  /** Attempts that were turned away, ever. */
  refused = 0;

  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** @throws RENDEZVOUS_BUSY */
  assertMayTry(network: string): void {
    if (this.#now() >= this.#windowEnd) {
      this.#misses = new NetworkCount();
      this.#windowEnd = this.#now() + WINDOW_MS;
    }
    if (network === '' || this.#misses.hasRoom(network, this.#perMinute)) return;
    this.refused++;
    throw new KeibiError(
      'RENDEZVOUS_BUSY',
      'Too many wrong numbers were tried from this address. Try again in a minute.',
    );
  }

  miss(network: string): void {
    this.#misses.add(network);
  }
}

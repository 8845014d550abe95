// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { NetworkCount } from './network.ts';

const WINDOW_MS = 60_000;

/**
 * Limits the misses per minute of each network that tries mailboxes, and of the wider networks around it. A network over its limit is
 * refused until the minute ends, even for a mailbox that exists. This process (`''`) has no limit.
 */
export class GuessLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  #misses = new NetworkCount();
  #windowEnd = 0;
  /** Attempts refused, since the start. */
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

// SPDX-License-Identifier: MPL-2.0
import { MAX_LANE_NUMBERS } from '@keibidrop/protocol';

/** The numbers of a session's lanes: each is used once (PROTOCOL 5.1). */
export class LaneNumbers {
  readonly #unused: number[] = [];
  #next = 0;

  /** Undefined when there are no more. */
  take(): number | undefined {
    const unused = this.#unused.pop();
    if (unused !== undefined) return unused;
    return this.#next < MAX_LANE_NUMBERS ? this.#next++ : undefined;
  }

  /** The peer has not seen this number. */
  giveBack(number: number): void {
    this.#unused.push(number);
  }
}

// SPDX-License-Identifier: MPL-2.0
import { MAX_LANES } from '@keibidrop/protocol';

/** Below this round trip one lane is fastest: the processors are the limit, and each further lane costs them time. */
const SHORT_RTT_MS = 2;
/** TCP's rate grows per round trip and falls with each loss. So a longer path begins with more lanes: one for each of these intervals. */
const RTT_MS_PER_LANE = 25;
const MOST_AT_FIRST = 8;
/** Minimum time of one rate measurement, also in round trips. */
const WINDOW_MS = 1000;
const WINDOW_ROUND_TRIPS = 8;
/** A change of the rate within this share counts as none. */
const STEADY_SHARE = 0.1;

/**
 * Decides the number of lanes of a transfer: more as long as more of them raise its rate.
 *
 *   rising -> (steady: try half as many more) -> rising | (no faster: stay)
 *
 * A path shorter than 2 ms keeps its one lane. Pure: the caller passes the time and the bytes received.
 */
export class LanePolicy {
  readonly #windowMs: number;
  #lanes: number;
  #since: { atMs: number; bytes: number } | undefined;
  #lastRate = 0;
  /** The steady rate before lanes were added. */
  #before: number | undefined;
  #settled: boolean;

  /** @param rttMs  the minimum round-trip time of the path; 0 if unknown, which counts as short */
  constructor(rttMs: number) {
    const atFirst = Math.min(MOST_AT_FIRST, Math.max(1, Math.round(rttMs / RTT_MS_PER_LANE)));
    this.#settled = rttMs < SHORT_RTT_MS;
    this.#lanes = atFirst;
    this.#windowMs = Math.max(WINDOW_MS, WINDOW_ROUND_TRIPS * rttMs);
  }

  get lanes(): number {
    return this.#lanes;
  }

  /** True once the number of lanes is final. */
  get settled(): boolean {
    return this.#settled;
  }

  /**
   * Takes a measurement; call it several times a second.
   *
   * @param bytes  received on all lanes since the beginning
   * @returns      the number of lanes wanted from now on
   */
  observe(atMs: number, bytes: number): number {
    if (this.#settled) return this.#lanes;
    this.#since ??= { atMs, bytes };
    const elapsedMs = atMs - this.#since.atMs;
    if (elapsedMs < this.#windowMs) return this.#lanes;
    const rate = (bytes - this.#since.bytes) / elapsedMs;
    this.#since = { atMs, bytes };
    const rising = rate > this.#lastRate * (1 + STEADY_SHARE);
    this.#lastRate = rate;
    if (!rising && rate > 0) this.#decide(rate);
    return this.#lanes;
  }

  #decide(rate: number): void {
    const helped = this.#before === undefined || rate > this.#before * (1 + STEADY_SHARE);
    if (!helped || this.#lanes === MAX_LANES) {
      this.#settled = true;
      return;
    }
    this.#before = rate;
    this.#lanes = Math.min(MAX_LANES, Math.ceil(this.#lanes * 1.5));
  }
}

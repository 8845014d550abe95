// SPDX-License-Identifier: MPL-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import type { LaneEnd, LaneKeys, LaneWay, ReadJob } from '@keibidrop/native';
import { type ErrorCode, KeibiError, MAX_LANES } from '@keibidrop/protocol';
import { LanePolicy } from '@keibidrop/transfer';
import type { LaneNumbers } from '../lane-numbers.ts';

/** The address and keys for dialling the lanes of one session. */
export interface LaneSource {
  /** Numeric. */
  readonly host: string;
  readonly port: number;
  readonly keys: LaneKeys;
  readonly numbers: LaneNumbers;
  /** How a lane gets there if not by a plain dial. */
  way(lane: number): Promise<LaneWay>;
}

/** The codes of a lane whose connection was lost; any other means that the peer has violated the protocol. */
const GONE: readonly string[] = ['SESSION_LOST', 'FRAME_TRUNCATED', 'CANCELLED'] satisfies ErrorCode[];
/** After these failures the lane's number can be used again: the peer has not seen it. */
const NEVER_CAME: readonly string[] = ['PEER_UNREACHABLE', 'RENDEZVOUS_BUSY'] satisfies ErrorCode[];
/** Pauses before a dial after lanes that carried nothing; after this many the session counts as lost. */
const PAUSES_MS = [0, 100, 250, 500, 1000, 2000];

/**
 * Keeps as many lanes open as the path needs, for a guest that reads or writes in place. The job moves a lost lane's
 * pending work to others.
 */
export class GuestLanes {
  readonly #job: Pick<ReadJob, 'addLane' | 'lanes'>;
  readonly #source: LaneSource;
  readonly #onFailed: (reason: KeibiError) => void;
  readonly #most: number;
  readonly #ending = new AbortController();
  /** Open, or being dialled. */
  #open = 0;
  #wanted = 1;
  /** Consecutive lanes that carried nothing. */
  #fruitless = 0;

  /**
   * @param onFailed  the session cannot have lanes, or the peer violates the protocol: called once
   * @param most      the limit of lanes
   */
  constructor(
    job: Pick<ReadJob, 'addLane' | 'lanes'>,
    source: LaneSource,
    onFailed: (reason: KeibiError) => void,
    most = MAX_LANES,
  ) {
    this.#most = most;
    this.#job = job;
    this.#source = source;
    this.#onFailed = onFailed;
  }

  /** Dials the first lane, which measures the round trip, and then the others. */
  begin(): void {
    void this.#keep(1).then(() => {
      const rttMs = this.#job.lanes()[0]?.rttMs ?? 0;
      this.#wanted = Math.min(laneCount() ?? new LanePolicy(rttMs).lanes, this.#most);
      return this.#keep(this.#wanted);
    });
  }

  /** Lanes that native code reports as ended. */
  took(ends: readonly LaneEnd[]): void {
    for (const { frames, code } of ends) {
      this.#open--;
      if (!GONE.includes(code)) {
        this.#fail(KeibiError.from(Object.assign(new Error(code), { code }), 'INTERNAL'));
        return;
      }
      this.#fruitless = frames > 0 ? 0 : this.#fruitless + 1;
    }
    if (ends.length > 0) void this.#keep(this.#wanted);
  }

  close(): void {
    this.#ending.abort();
  }

  /** Dials until this many are open; after a failure one at a time. */
  async #keep(wanted: number): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted && this.#open < wanted) {
      const pauseMs = PAUSES_MS[this.#fruitless];
      if (pauseMs === undefined) return this.#fail(new KeibiError('SESSION_LOST', 'No lane to the peer stays up.'));
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => {});
      const missing = Math.max(0, wanted - this.#open);
      if (!signal.aborted) await Promise.all(Array.from({ length: missing }, () => this.#dial()));
    }
  }

  async #dial(): Promise<void> {
    const { host, port, keys, numbers, way } = this.#source;
    const lane = numbers.take();
    if (lane === undefined) return this.#fail(new KeibiError('SESSION_LOST', 'Its lanes were cut too often.'));
    this.#open++;
    try {
      await this.#job.addLane(host, port, lane, keys, await way(lane));
    } catch (reason) {
      this.#open--;
      if (NEVER_CAME.includes(KeibiError.from(reason, 'INTERNAL').code)) numbers.giveBack(lane);
      // One open lane is enough to continue.
      if (this.#open === 0) this.#fruitless++;
      else this.#wanted = Math.max(1, this.#open);
    }
  }

  #fail(reason: KeibiError): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.#onFailed(reason);
  }
}

/** The number of lanes that KD_LANES sets, for tests. */
function laneCount(): number | undefined {
  const asked = Number(process.env.KD_LANES);
  return Number.isInteger(asked) && asked >= 1 && asked <= MAX_LANES ? asked : undefined;
}

// SPDX-License-Identifier: MPL-2.0
import type { LaneKeys, LaneState, LaneWay, ReceiveJob } from '@keibidrop/native';
import { LanePolicy } from './lane-policy.ts';

/** Where lanes are dialled. */
export interface LanePath {
  /** Numeric. */
  host: string;
  port: number;
  /** By what other way than a plain dial each lane comes there; asked anew for each. Absent: none. */
  way?: ((lane: number) => Promise<LaneWay>) | undefined;
}

/** How a transfer has its lanes. */
export interface LanePlan {
  /** Wiped by the keeper's close(). */
  keys: LaneKeys;
  /** How many; absent: one, and more while they raise the rate. */
  count?: number | undefined;
  /** Called once, when the offer is accepted. */
  path(): Promise<LanePath>;
}

type LaneJob = Pick<ReceiveJob, 'addLane' | 'lanes'>;

const LOOK_EVERY_MS = 100;

/** Keeps the lanes of one receiving job: dials as many as raise its rate. */
export class LaneKeeper {
  readonly #job: LaneJob;
  readonly #plan: LanePlan;
  #path: LanePath | undefined;
  #dialled = 0;
  /** What has come on each lane, also on those that are gone. */
  readonly #bytes = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(job: LaneJob, plan: LanePlan) {
    this.#job = job;
    this.#plan = plan;
  }

  /** Dials the first lanes. @throws PEER_UNREACHABLE, SESSION_LOST, RENDEZVOUS_BUSY, HANDSHAKE_TIMEOUT, CANCELLED */
  async open(): Promise<void> {
    const { count } = this.#plan;
    this.#path = await this.#plan.path();
    // The first lane tells how long the path is.
    await this.#dialOne();
    const policy = new LanePolicy(shortestOf(this.#job.lanes()));
    await this.#dialTo(count ?? policy.lanes);
    if (count === undefined && !policy.settled && !this.#closed) {
      this.#timer = setInterval(() => this.#look(policy), LOOK_EVERY_MS);
    }
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#plan.keys.laneSecret.fill(0);
  }

  #look(policy: LanePolicy): void {
    for (const { lane, bytes } of this.#job.lanes()) this.#bytes.set(lane, bytes);
    const bytes = [...this.#bytes.values()].reduce((sum, each) => sum + each, 0);
    const wanted = policy.observe(performance.now(), bytes);
    if (policy.settled) clearInterval(this.#timer);
    // One more was only a try: the transfer goes on without it.
    this.#dialTo(wanted).catch(() => {});
  }

  async #dialTo(count: number): Promise<void> {
    const dials: Promise<void>[] = [];
    while (this.#dialled < count) dials.push(this.#dialOne());
    await Promise.all(dials);
  }

  async #dialOne(): Promise<void> {
    const lane = this.#dialled++;
    const { host, port, way } = this.#path as LanePath;
    const by = await way?.(lane);
    if (!this.#closed) await this.#job.addLane(host, port, lane, this.#plan.keys, by);
  }
}

/** 0 if no lane knows its round trip. */
function shortestOf(lanes: LaneState[]): number {
  return lanes.length === 0 ? 0 : Math.min(...lanes.map(({ rttMs }) => rttMs));
}

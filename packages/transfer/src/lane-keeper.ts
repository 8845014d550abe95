// SPDX-License-Identifier: MPL-2.0
import type { LaneEnd, LaneKeys, LaneState, LaneWay, ReceiveJob } from '@keibidrop/native';
import type { ReceiverMessage } from '@keibidrop/proto';
import { type ErrorCode, KeibiError, MAX_LANE_NUMBERS } from '@keibidrop/protocol';
import { LanePolicy } from './lane-policy.ts';
import { codeOf, laneError } from './outcome.ts';

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

export interface LaneKeeperOptions {
  job: Pick<ReceiveJob, 'addLane' | 'cutLane' | 'lanes'>;
  plan: LanePlan;
  /** Tells the sender. */
  write(body: ReceiverMessage['body']): void;
  /** The transfer cannot go on: once. */
  onFailed(reason: KeibiError): void;
}

const LOOK_EVERY_MS = 100;
/** How a lane ends whose connection is gone; with anything else the peer has broken the protocol. */
const GONE: readonly ErrorCode[] = ['SESSION_LOST', 'FRAME_TRUNCATED'];
/** A dial that fails so never reached the sender's registry: its number is as good as new. */
const NEVER_CAME: readonly ErrorCode[] = ['PEER_UNREACHABLE', 'RENDEZVOUS_BUSY'];
/** Pauses before the first dials after lanes that brought nothing; after as many the session counts as lost. */
const PAUSES_MS = [0, 100, 250, 500, 1000, 2000];
/** A sender that says nothing of a lane's end for so long is not one of ours, if there is no other lane. */
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Keeps the lanes of one receiving job: dials as many as raise its rate, has the sender send again what a lost one did not bring, dials another
 * for it, and moves all of them to another address.
 */
export class LaneKeeper {
  readonly #options: LaneKeeperOptions;
  #path: LanePath | undefined;
  #policy = new LanePolicy(0);
  #wanted = 1;
  /** Lanes that are up, or being dialled. */
  readonly #open = new Set<number>();
  /** Lanes whose end the sender has been told, and has not answered. */
  readonly #telling = new Set<number>();
  /** Lanes whose goodbye we have asked for. */
  readonly #retired = new Set<number>();
  /** What has come on each lane, also on those that are gone. */
  readonly #bytes = new Map<number, number>();
  readonly #unused: number[] = [];
  #nextNumber = 0;
  /** Lanes in a row that brought nothing. */
  #fruitless = 0;
  #timer: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;
  #unanswered: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: LaneKeeperOptions) {
    this.#options = options;
  }

  /** Dials the first lanes. @throws PEER_UNREACHABLE, SESSION_LOST, RENDEZVOUS_BUSY, HANDSHAKE_TIMEOUT, CANCELLED */
  async open(): Promise<void> {
    await this.#begin(await this.#options.plan.path());
  }

  /**
   * Moves the lanes to another address: once one is up there the old ones end, each after the frame it is at, and nothing is lost or sent twice.
   *
   * @throws as open(); nothing has changed then
   */
  async moveTo(path: LanePath): Promise<void> {
    const old = [...this.#open];
    await this.#begin(path);
    for (const lane of old) {
      this.#retired.add(lane);
      this.#options.write({ $case: 'laneRetired', value: { lane } });
    }
  }

  /** Lanes that native says have ended. @throws HANDSHAKE_*, FRAME_*: the peer has broken the protocol, or said goodbye too early */
  take(ends: readonly LaneEnd[]): void {
    for (const { lane, frames, code } of ends) {
      if (code === '' ? !this.#retired.has(lane) : !GONE.includes(codeOf(code))) throw laneError(code);
      this.#open.delete(lane);
      this.#telling.add(lane);
      this.#fruitless = frames > 0 || code === '' ? 0 : this.#fruitless + 1;
      this.#options.write({ $case: 'laneClosed', value: { taken: { lane, frames } } });
      if (this.#fruitless >= PAUSES_MS.length) throw laneError(code);
      if (this.#open.size > 0 || this.#closed) continue;
      clearTimeout(this.#unanswered);
      this.#unanswered = setTimeout(() => this.#options.onFailed(laneError(code)), ANSWER_TIMEOUT_MS);
    }
  }

  /** The sender cannot write to a lane. */
  broken(lane: number): void {
    this.#options.job.cutLane(lane);
  }

  /** The sender sends elsewhere what a lane did not bring: now another may take its place. */
  moved(lane: number): void {
    if (!this.#telling.delete(lane)) return;
    clearTimeout(this.#unanswered);
    this.#redial();
  }

  /** How far each lane has come. */
  taken(): LaneState[] {
    return this.#options.job.lanes();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#pause);
    clearTimeout(this.#unanswered);
    this.#options.plan.keys.laneSecret.fill(0);
  }

  /** The first lane tells how long the path is, the path how many there are to be. */
  async #begin(path: LanePath): Promise<void> {
    const { plan } = this.#options;
    const before = this.#path;
    this.#path = path;
    let first: number;
    try {
      first = await this.#dial();
    } catch (reason) {
      this.#path = before;
      throw reason;
    }
    const state = this.taken().find(({ lane }) => lane === first);
    this.#policy = new LanePolicy(state?.rttMs ?? 0);
    this.#wanted = plan.count ?? this.#policy.lanes;
    clearInterval(this.#timer);
    if (plan.count === undefined && !this.#policy.settled && !this.#closed) {
      this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    }
    // One is enough to begin with.
    await Promise.allSettled(Array.from({ length: this.#wanted - 1 }, () => this.#dial()));
  }

  #look(): void {
    for (const { lane, bytes } of this.taken()) this.#bytes.set(lane, bytes);
    const bytes = [...this.#bytes.values()].reduce((sum, each) => sum + each, 0);
    this.#wanted = this.#policy.observe(performance.now(), bytes);
    if (this.#policy.settled) clearInterval(this.#timer);
    // One more is only a try: without it the transfer goes on as it did.
    while (this.#open.size + this.#telling.size < this.#wanted) this.#dial().catch(() => {});
  }

  /** Makes up for lanes that are gone, at once or after a pause if the last ones brought nothing. */
  #redial(): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      while (!this.#closed && this.#open.size < this.#wanted)
        this.#dial().catch((reason) => this.#redialFailed(reason));
    }, PAUSES_MS[this.#fruitless]);
  }

  #redialFailed(reason: unknown): void {
    if (this.#closed || this.#open.size > 0) return;
    if (++this.#fruitless < PAUSES_MS.length) this.#redial();
    else this.#options.onFailed(new KeibiError('SESSION_LOST', undefined, { cause: reason }));
  }

  /** @returns the lane's number, once it is up */
  async #dial(): Promise<number> {
    const { job, plan } = this.#options;
    const lane = this.#unused.pop() ?? this.#nextNumber++;
    if (lane >= MAX_LANE_NUMBERS) throw new KeibiError('SESSION_LOST', 'Its lanes were cut too often.');
    const { host, port, way } = this.#path as LanePath;
    this.#open.add(lane);
    try {
      const by = await way?.(lane);
      if (this.#closed) throw new KeibiError('CANCELLED');
      await job.addLane(host, port, lane, plan.keys, by);
      return lane;
    } catch (reason) {
      this.#open.delete(lane);
      const { code } = reason as { code?: ErrorCode };
      if (code !== undefined && NEVER_CAME.includes(code)) this.#unused.push(lane);
      throw reason;
    }
  }
}

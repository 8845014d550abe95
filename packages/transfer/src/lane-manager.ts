// SPDX-License-Identifier: MPL-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import type { LaneEnd, LaneKeys, LaneState, LaneWay, ReceiveJob } from '@keibidrop/native';
import type { ReceiverMessage } from '@keibidrop/proto';
import { type ErrorCode, KeibiError, MAX_LANE_NUMBERS } from '@keibidrop/protocol';
import { LanePolicy } from './lane-policy.ts';
import { codeOf, laneError } from './outcome.ts';

/** Address at which lanes are dialled. */
export interface LanePath {
  /** Numeric. */
  host: string;
  port: number;
  /** Gives the route of each lane if a plain dial is not enough; called for each lane. Absent: plain dial. */
  way?: ((lane: number) => Promise<LaneWay>) | undefined;
}

/** How a transfer gets its lanes. */
export interface LanePlan {
  /** Wiped by the keeper's close(). */
  keys: LaneKeys;
  /** Fixed number of lanes. Absent: one, then more while they raise the rate. */
  count?: number | undefined;
  /** Called once, when the offer is accepted. */
  path(): Promise<LanePath>;
}

export interface LaneManagerOptions {
  job: Pick<ReceiveJob, 'addLane' | 'cutLane' | 'lanes'>;
  plan: LanePlan;
  /** Sends a message to the sender. */
  write(body: ReceiverMessage['body']): void;
  /** Called once if the transfer cannot continue. */
  onFailed(reason: KeibiError): void;
}

const LOOK_EVERY_MS = 100;
/** Errors of a lane that lost its connection; any other error means that the peer broke the protocol. */
const GONE: readonly ErrorCode[] = ['SESSION_LOST', 'FRAME_TRUNCATED'];
/** Errors of a dial that never reached the sender's registry, so its lane number can be reused. */
const NEVER_CAME: readonly ErrorCode[] = ['PEER_UNREACHABLE', 'RENDEZVOUS_BUSY'];
/** Pauses before redials, by the number of lanes in a row that brought nothing. After the last one the session counts as lost. */
const PAUSES_MS = [0, 100, 250, 500, 1000, 2000];
/** Limit for the sender's answer about an ended lane, if there is no other lane. */
const ANSWER_TIMEOUT_MS = 10_000;
/** A sender with data begins a frame within this time and continues it; a stranger that only accepts connections does not. */
const PROOF_TIMEOUT_MS = 3000;
/** Lane numbers for tries at other addresses; the rest stays available for the first address. */
const MOST_NUMBERS_ELSEWHERE = MAX_LANE_NUMBERS / 2;

/** Lane numbers given out at one end of their range. */
interface Numbers {
  unused: number[];
  used: number;
}

/**
 * Manages the lanes of one receiving job. It dials as many as raise the rate and replaces lost lanes, whose missing frames the sender
 * sends again. It can also move all lanes to another address.
 */
export class LaneManager {
  readonly #options: LaneManagerOptions;
  #path: LanePath | undefined;
  #firstPath: LanePath | undefined;
  #begun = false;
  #policy = new LanePolicy(0);
  #wanted = 1;
  /** Lanes that are up or being dialled. */
  readonly #open = new Set<number>();
  /** Lanes at another address where the sender is not yet proved. */
  readonly #trials = new Set<number>();
  /** Lanes whose end is reported to the sender and not yet acknowledged. */
  readonly #telling = new Set<number>();
  /** Lanes that we have asked the sender to end. */
  readonly #retired = new Set<number>();
  /** Bytes received on each lane, including ended ones. */
  readonly #bytes = new Map<number, number>();
  /**
   * Counted up from 0 at the first address, because at a relay the sender waits for the numbers in order. Elsewhere counted down from the
   * last number.
   */
  readonly #numbers: Record<'first' | 'elsewhere', Numbers> = {
    first: { unused: [], used: 0 },
    elsewhere: { unused: [], used: 0 },
  };
  /** Lanes in a row that brought nothing. */
  #fruitless = 0;
  #timer: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;
  #unanswered: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: LaneManagerOptions) {
    this.#options = options;
  }

  /** Dials the first lanes. @throws PEER_UNREACHABLE, SESSION_LOST, RENDEZVOUS_BUSY, HANDSHAKE_TIMEOUT, CANCELLED */
  async open(): Promise<void> {
    const path = await this.#options.plan.path();
    this.#firstPath = path;
    this.#path = path;
    await this.#spread(await this.#dial(path));
    this.#begun = true;
  }

  /**
   * Moves the lanes to another address. Once the sender has sent on a lane there, each old lane ends after its current frame; no frame
   * is lost or sent twice. Several addresses may be tried at a time: the first that leads to the sender wins.
   *
   * @throws as open(), and SESSION_CLOSED before open() is done; the lanes are then unchanged
   */
  async moveTo(path: LanePath): Promise<void> {
    if (!this.#begun) throw new KeibiError('SESSION_CLOSED');
    const before = this.#path;
    const lane = await this.#dial(path, this.#trials);
    await this.#proven(lane);
    this.#open.add(lane);
    if (this.#path !== before) {
      this.#retire(lane);
      throw new KeibiError('CANCELLED', 'Another address was quicker.');
    }
    const old = [...this.#open].filter((each) => each !== lane);
    this.#path = path;
    await this.#spread(lane);
    for (const each of old) this.#retire(each);
  }

  /** Handles lanes that ended in native code. @throws HANDSHAKE_*, FRAME_*: the peer has broken the protocol, or said goodbye too early */
  take(ends: readonly LaneEnd[]): void {
    for (const { lane, frames, code } of ends) {
      const tried = this.#trials.delete(lane);
      // An unproved peer at a tried address cannot fail the transfer.
      if (!tried && (code === '' ? !this.#retired.has(lane) : !GONE.includes(codeOf(code)))) throw laneError(code);
      this.#open.delete(lane);
      this.#telling.add(lane);
      if (!tried) this.#fruitless = frames > 0 || code === '' ? 0 : this.#fruitless + 1;
      this.#options.write({ $case: 'laneClosed', value: { taken: { lane, frames } } });
      if (this.#fruitless >= PAUSES_MS.length) throw laneError(code);
      if (tried || this.#open.size > 0 || this.#closed) continue;
      clearTimeout(this.#unanswered);
      this.#unanswered = setTimeout(() => this.#options.onFailed(laneError(code)), ANSWER_TIMEOUT_MS);
    }
  }

  /** The sender reports that it cannot write to a lane. */
  broken(lane: number): void {
    this.#options.job.cutLane(lane);
  }

  /** The sender has moved a lane's missing frames to other lanes, so a new lane may replace it. */
  moved(lane: number): void {
    if (!this.#telling.delete(lane)) return;
    clearTimeout(this.#unanswered);
    this.#redial();
  }

  /** Progress of each lane. */
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

  #retire(lane: number): void {
    this.#retired.add(lane);
    this.#options.write({ $case: 'laneRetired', value: { lane } });
  }

  /** Waits for the sender's first frame on a tried lane. @throws PEER_UNREACHABLE if none comes; the lane is then cut */
  async #proven(lane: number): Promise<void> {
    let heard = { bytes: 0, atMs: performance.now() };
    while (this.#trials.has(lane) && !this.#closed) {
      const { frames = 0, bytes = 0 } = this.taken().find((each) => each.lane === lane) ?? {};
      if (frames > 0) {
        this.#trials.delete(lane);
        return;
      }
      if (bytes > heard.bytes) heard = { bytes, atMs: performance.now() };
      if (performance.now() - heard.atMs > PROOF_TIMEOUT_MS) this.#options.job.cutLane(lane);
      await sleep(LOOK_EVERY_MS);
    }
    throw new KeibiError('PEER_UNREACHABLE', 'No peer with the keys of this session answers there.');
  }

  /** Dials the number of lanes that suits the round-trip time of the first one. */
  async #spread(first: number): Promise<void> {
    const { plan } = this.#options;
    const state = this.taken().find(({ lane }) => lane === first);
    this.#policy = new LanePolicy(state?.rttMs ?? 0);
    this.#wanted = plan.count ?? this.#policy.lanes;
    clearInterval(this.#timer);
    if (plan.count === undefined && !this.#policy.settled && !this.#closed) {
      this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    }
    // Errors are ignored: one lane is enough to begin with.
    await Promise.allSettled(Array.from({ length: this.#wanted - 1 }, () => this.#dial()));
  }

  #look(): void {
    for (const { lane, bytes } of this.taken()) this.#bytes.set(lane, bytes);
    const bytes = [...this.#bytes.values()].reduce((sum, each) => sum + each, 0);
    this.#wanted = this.#policy.observe(performance.now(), bytes);
    if (this.#policy.settled) clearInterval(this.#timer);
    // An additional lane is only a try; the transfer continues without it.
    while (this.#open.size + this.#telling.size < this.#wanted) this.#dial().catch(() => {});
  }

  /** Replaces ended lanes, after a pause if the last ones brought nothing. */
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

  /** @returns the lane's number, once it is up and in `lanes` */
  async #dial(path = this.#path as LanePath, lanes = this.#open): Promise<number> {
    const { job, plan } = this.#options;
    const lane = this.#number(path);
    lanes.add(lane);
    try {
      const by = await path.way?.(lane);
      if (this.#closed) throw new KeibiError('CANCELLED');
      await job.addLane(path.host, path.port, lane, plan.keys, by);
      return lane;
    } catch (reason) {
      lanes.delete(lane);
      const { code } = reason as { code?: ErrorCode };
      if (code !== undefined && NEVER_CAME.includes(code)) this.#numbersOf(path).unused.push(lane);
      throw reason;
    }
  }

  #numbersOf(path: LanePath): Numbers {
    return path === this.#firstPath ? this.#numbers.first : this.#numbers.elsewhere;
  }

  #number(path: LanePath): number {
    const { first, elsewhere } = this.#numbers;
    const numbers = this.#numbersOf(path);
    const again = numbers.unused.pop();
    if (again !== undefined) return again;
    const most = numbers === first ? MAX_LANE_NUMBERS : MOST_NUMBERS_ELSEWHERE;
    if (numbers.used >= most || first.used + elsewhere.used >= MAX_LANE_NUMBERS) {
      throw new KeibiError('SESSION_LOST', 'Its lanes were cut too often.');
    }
    return numbers === first ? numbers.used++ : MAX_LANE_NUMBERS - ++numbers.used;
  }
}

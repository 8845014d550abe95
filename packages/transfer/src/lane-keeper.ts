// SPDX-License-Identifier: MPL-2.0
import { setTimeout as sleep } from 'node:timers/promises';
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
/** A sender with something to send has begun a frame by then, and goes on with it; a stranger who only takes connections never does. */
const PROOF_TIMEOUT_MS = 3000;
/** Tries elsewhere leave so many numbers to the lanes there are. */
const MOST_NUMBERS_ELSEWHERE = MAX_LANE_NUMBERS / 2;

/** Lane numbers that were given out at one end of their range. */
interface Numbers {
  unused: number[];
  used: number;
}

/**
 * Keeps the lanes of one receiving job: dials as many as raise its rate, has the sender send again what a lost one did not bring, dials another
 * for it, and moves all of them to another address.
 */
export class LaneKeeper {
  readonly #options: LaneKeeperOptions;
  #path: LanePath | undefined;
  #firstPath: LanePath | undefined;
  #begun = false;
  #policy = new LanePolicy(0);
  #wanted = 1;
  /** Lanes that are up, or being dialled. */
  readonly #open = new Set<number>();
  /** Lanes at another address, where the sender has not been heard yet. */
  readonly #trials = new Set<number>();
  /** Lanes whose end the sender has been told, and has not answered. */
  readonly #telling = new Set<number>();
  /** Lanes whose goodbye we have asked for. */
  readonly #retired = new Set<number>();
  /** What has come on each lane, also on those that are gone. */
  readonly #bytes = new Map<number, number>();
  /** Counted from 0 at the first address, since a sender waits at a relay for one number after the other; from the last one elsewhere. */
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

  constructor(options: LaneKeeperOptions) {
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
   * Moves the lanes to another address: once the sender has sent on one there the old ones end, each after the frame it is at, and nothing is
   * lost or sent twice. Several addresses may be tried at a time: the first that leads to the sender is it.
   *
   * @throws as open(), and SESSION_CLOSED before that is done; nothing has changed then
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

  /** Lanes that native says have ended. @throws HANDSHAKE_*, FRAME_*: the peer has broken the protocol, or said goodbye too early */
  take(ends: readonly LaneEnd[]): void {
    for (const { lane, frames, code } of ends) {
      const tried = this.#trials.delete(lane);
      // Whoever answers at an address that is only tried is not the peer before it has proved to be.
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

  #retire(lane: number): void {
    this.#retired.add(lane);
    this.#options.write({ $case: 'laneRetired', value: { lane } });
  }

  /** Waits for the sender to speak on a lane that is tried. @throws PEER_UNREACHABLE if it does not; the lane is cut then */
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
    throw new KeibiError('PEER_UNREACHABLE', 'Nobody who knows the session answers there.');
  }

  /** The first lane tells how long the path is, the path how many there are to be. */
  async #spread(first: number): Promise<void> {
    const { plan } = this.#options;
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

  /** @returns the lane's number, once it is up and among `lanes` */
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

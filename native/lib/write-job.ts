// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertFunction, assertInteger } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { checkedLane, type LaneDial, type LaneWay } from './lane-dial.ts';
import { checkedContent, type NativeContent, type PutContent } from './put.ts';
import { type NativeRateBudget, RateBudget } from './rate-budget.ts';
import type { LaneState } from './receive-job.ts';
import type { LaneEnd, LaneKeys } from './send-job.ts';

/** What has happened in a WriteJob since the last look. */
export interface WriteNews {
  /** Puts of which nothing is under way any more, each with what has become of it: no `error`, and all is written. */
  settled: { put: number; error?: Error }[];
  lanesEnded: LaneEnd[];
}

interface NativeWriteJob {
  addLane(...dial: LaneDial): Promise<void>;
  endSession(): Promise<void>;
  session(): number;
  fold(number: number, secret: Uint8Array): void;
  foldReady(number: number): void;
  cutSilent(patienceMs: number): void;
  lanes(): Omit<LaneState, 'frames'>[];
  begin(put: number, session: number, handle: number, ...content: NativeContent): void;
  cancel(put: number): void;
  bytes(): number;
  takeNews(): WriteNews;
  close(): Promise<void>;
}

interface WriteJobBinding {
  WriteJob: new (budget: NativeRateBudget | undefined, onWake: () => void) => NativeWriteJob;
}

const MOST = 0xffffffff;

/**
 * Writes files of a share in place (PROTOCOL 11.2). Native threads carry what a put has changed from its draft to the lanes; no byte of a file
 * comes here.
 *
 * A session that ends, ends its puts; lanes of the next may come then.
 */
export class WriteJob {
  readonly #native: NativeWriteJob;

  /**
   * @param options.budget  the rate it keeps to, with the other jobs that have it; absent: no limit
   * @param options.onWake  there is news to take; never after close()
   */
  constructor(options: { budget?: RateBudget | undefined; onWake(): void }) {
    assertFunction('onWake', options.onWake);
    const { WriteJob: Native } = loadBinding<WriteJobBinding>();
    this.#native = new Native(RateBudget.nativeOf(options.budget), () => options.onWake());
  }

  /** Dials one lane of the present session. As ReadJob.addLane. */
  addLane(host: string, port: number, lane: number, keys: LaneKeys, way: LaneWay = {}): Promise<void> {
    return this.#native.addLane(...checkedLane(host, port, lane, keys, way));
  }

  /** Ends the session's lanes, and its puts with SESSION_LOST; those of another may come once it resolves. */
  endSession(): Promise<void> {
    return this.#native.endSession();
  }

  /** Names the present session: how many have ended. */
  get session(): number {
    return this.#native.session();
  }

  /** Every lane's reader can follow its writer to this fold (PROTOCOL 4.3). The secret is copied. */
  fold(number: number, secret: Uint8Array): void {
    assertInteger('number', number, 1, 255);
    assertBytes('secret', secret, 32);
    this.#native.fold(number, secret);
  }

  /** So can the peer's readers: every lane's writer moves to this fold before its next frame. */
  foldReady(number: number): void {
    assertInteger('number', number, 1, 255);
    this.#native.foldReady(number);
  }

  /** Ends lanes that owe an answer for so long while nothing of what they carry gets through. */
  cutSilent(patienceMs: number): void {
    assertInteger('patienceMs', patienceMs, 0, MOST);
    this.#native.cutSilent(patienceMs);
  }

  lanes(): Omit<LaneState, 'frames'>[] {
    return this.#native.lanes();
  }

  /**
   * Begins to write, by a handle that the peer has given in this session.
   *
   * @param put  a number by which news tell what has become of it
   * @throws     SESSION_LOST of another session; TRANSFER_SIZE_MISMATCH (ranges are not in order, or there are none);
   *             TRANSFER_DESTINATION_UNUSABLE (the draft is not there)
   */
  begin(put: number, session: number, handle: number, content: PutContent): void {
    assertInteger('put', put, 0, MOST);
    assertInteger('session', session, 0, MOST);
    assertInteger('handle', handle, 0, MOST);
    this.#native.begin(put, session, handle, ...checkedContent(content));
  }

  /** Nothing more of it leaves, and news tell nothing of it. */
  cancel(put: number): void {
    assertInteger('put', put, 0, MOST);
    this.#native.cancel(put);
  }

  /** Of the wire, sent in this session. */
  get bytes(): number {
    return this.#native.bytes();
  }

  takeNews(): WriteNews {
    return this.#native.takeNews();
  }

  /** Ends every thread. Idempotent. */
  close(): Promise<void> {
    return this.#native.close();
  }
}

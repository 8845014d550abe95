// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertFunction, assertInteger } from './arguments.ts';
import { checkedLane, type LaneDial, type LaneWay } from './lane-dial.ts';
import { type NativeRateBudget, RateBudget } from './rate-budget.ts';
import type { LaneState } from './receive-job.ts';
import type { LaneKeys } from './send-job.ts';

export interface GuestJobOptions {
  /** The rate limit shared with other jobs; absent: no limit. */
  budget?: RateBudget | undefined;
  /** News is available; never called after close(). */
  onWake(): void;
}

export interface NativeGuestJob {
  addLane(...dial: LaneDial): Promise<void>;
  endSession(): Promise<void>;
  rekey(number: number, secret: Uint8Array): void;
  cutSilent(patienceMs: number): void;
  lanes(): Omit<LaneState, 'frames'>[];
  bytes(): number;
  close(): Promise<void>;
}

export type NativeGuestJobClass<Native> = new (budget: NativeRateBudget | undefined, onWake: () => void) => Native;

export const MOST = 0xffffffff;

/** A job on the lanes of a guest's session with a share. */
export abstract class GuestJob<Native extends NativeGuestJob> {
  protected readonly native: Native;

  protected constructor(Job: NativeGuestJobClass<Native>, options: GuestJobOptions) {
    assertFunction('onWake', options.onWake);
    this.native = new Job(RateBudget.nativeOf(options.budget), () => options.onWake());
  }

  /**
   * Dials one lane (PROTOCOL 5.1) of the current session to a numeric address. The secret is copied.
   *
   * @throws PEER_UNREACHABLE, SESSION_LOST, CANCELLED soon after the session's end; RENDEZVOUS_BUSY, HANDSHAKE_TIMEOUT of a relay
   */
  addLane(host: string, port: number, lane: number, keys: LaneKeys, way: LaneWay = {}): Promise<void> {
    return this.native.addLane(...checkedLane(host, port, lane, keys, way));
  }

  /** Ends the session's lanes; once it resolves, lanes of another session may be added. */
  endSession(): Promise<void> {
    return this.native.endSession();
  }

  /** From now on every lane's reader can follow its writer to this rekey (PROTOCOL 4.3). The secret is copied. */
  rekey(number: number, secret: Uint8Array): void {
    assertInteger('number', number, 1, 255);
    assertBytes('secret', secret, 32);
    this.native.rekey(number, secret);
  }

  /** Ends lanes whose answer is overdue by this much while nothing arrives or gets through. */
  cutSilent(patienceMs: number): void {
    assertInteger('patienceMs', patienceMs, 0, MOST);
    this.native.cutSilent(patienceMs);
  }

  lanes(): Omit<LaneState, 'frames'>[] {
    return this.native.lanes();
  }

  /** Wire bytes received or sent in this session. */
  get bytes(): number {
    return this.native.bytes();
  }

  /** Ends every thread. Idempotent. */
  close(): Promise<void> {
    return this.native.close();
  }
}

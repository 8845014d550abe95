// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertInteger, assertText } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { suiteBitOf } from './frame.ts';
import type { Listener, NativeListener } from './listener.ts';
import { type NativeRateBudget, RateBudget } from './rate-budget.ts';
import type { LaneKeys } from './send-job.ts';

interface NativeServeJob {
  expectLanes(listener: NativeListener, sessionId: Uint8Array, laneSecret: Uint8Array, suiteBit: number): void;
  fold(number: number, secret: Uint8Array): void;
  bytes(): number;
  close(): Promise<void>;
}

interface ServeJobBinding {
  ServeJob: new (folder: string, only: string, budget: NativeRateBudget | undefined) => NativeServeJob;
}

/**
 * What one guest reads of a shared folder in one session (PROTOCOL 11.1). Native threads take what it asks for and carry it from disk to its
 * lanes; neither comes here.
 */
export class ServeJob {
  readonly #native: NativeServeJob;

  /**
   * @param options.folder  absolute; opened anew for each file
   * @param options.only    the one file in it that may be read; absent: all
   * @param options.budget  the rate it keeps to, with the other jobs that have it; absent: no limit
   */
  constructor({ folder, only = '', budget }: { folder: string; only?: string | undefined; budget?: RateBudget }) {
    assertText('folder', folder);
    assertText('only', only);
    const { ServeJob: Native } = loadBinding<ServeJobBinding>();
    this.#native = new Native(folder, only, RateBudget.nativeOf(budget));
  }

  /** Lets the listener accept the lanes of this session until close(). The secret is copied. */
  expectLanes(listener: Listener, { sessionId, laneSecret, suite }: LaneKeys): void {
    assertBytes('sessionId', sessionId, 16);
    assertBytes('laneSecret', laneSecret, 32);
    this.#native.expectLanes(listener.native, sessionId, laneSecret, suiteBitOf(suite));
  }

  /** Every lane's writer moves to this fold before its next frame (PROTOCOL 4.3). The secret is copied. */
  fold(number: number, secret: Uint8Array): void {
    assertInteger('number', number, 1, 255);
    assertBytes('secret', secret, 32);
    this.#native.fold(number, secret);
  }

  /** Of files, sent so far. */
  get bytes(): number {
    return this.#native.bytes();
  }

  /** Ends every thread. Idempotent. */
  close(): Promise<void> {
    return this.#native.close();
  }
}

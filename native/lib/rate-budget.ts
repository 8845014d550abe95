// SPDX-License-Identifier: MPL-2.0
import { assertBoolean, assertInteger, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';

/** The addon's own object, as other files of native/lib pass it back to native code. */
export interface NativeRateBudget {
  hold(held: boolean): void;
}

interface RateBudgetBinding {
  RateBudget: new (bytesPerSecond: number) => NativeRateBudget;
}

/**
 * A rate limit that any number of jobs share evenly. A job's unused part is available to the others.
 *
 * It counts what lanes carry: file bytes and the frames around them.
 */
export class RateBudget {
  readonly #native: NativeRateBudget;

  /** @param bytesPerSecond  0: no limit */
  constructor(bytesPerSecond: number) {
    assertInteger('bytesPerSecond', bytesPerSecond, 0, Number.MAX_SAFE_INTEGER);
    const { RateBudget: Native } = loadBinding<RateBudgetBinding>();
    this.#native = new Native(bytesPerSecond);
  }

  /** While held, its jobs move no further bytes beyond those already on their way. */
  hold(held: boolean): void {
    assertBoolean('held', held);
    this.#native.hold(held);
  }

  /** @internal for the jobs: undefined means no limit */
  static nativeOf(budget: RateBudget | undefined): NativeRateBudget | undefined {
    if (budget === undefined) return undefined;
    if (!(budget instanceof RateBudget)) throw misuse('budget must be a RateBudget');
    return budget.#native;
  }
}

// SPDX-License-Identifier: MPL-2.0
import type { RateBudget } from '@keibidrop/native';
import type { PausedEvent } from './events.ts';

/** Pauses and resumes a transfer. A front end creates it, passes it to `send` or `receive`, and operates it for the user. */
export class PauseSwitch {
  readonly #listeners = new Set<(paused: boolean) => void>();
  #paused = false;

  get paused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#set(true);
  }

  resume(): void {
    this.#set(false);
  }

  /** Calls back at each change. @returns  unsubscribes */
  onChange(listener: (paused: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls `hold` with the state now and at each change. @returns  unsubscribes */
  drive(hold: (paused: boolean) => void): () => void {
    hold(this.#paused);
    return this.onChange(hold);
  }

  #set(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    for (const listener of [...this.#listeners]) listener(paused);
  }
}

/** Applies a switch to a run: holds its budget, and reports each change, and a hold at the start. */
export function holdingBy(budget: RateBudget, onEvent: (event: PausedEvent) => void): (paused: boolean) => void {
  let reported = false;
  return (paused) => {
    budget.hold(paused);
    if (paused !== reported) onEvent({ type: 'paused', paused, by: 'self' });
    reported = paused;
  };
}

// SPDX-License-Identifier: MPL-2.0
import type { RateBudget } from '@keibidrop/native';
import type { PausedEvent } from './events.ts';

/** Holds a transfer and lets it go on: made by a face, given to `send` or `receive`, worked by a person. */
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

  /** Calls back at each change. @returns  ends that */
  onChange(listener: (paused: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** What `hold` is told: now, and at each change. @returns  ends that */
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

/** What a switch does to a run: holds its budget, and tells of each change, and of a hold at the start. */
export function holdingBy(budget: RateBudget, onEvent: (event: PausedEvent) => void): (paused: boolean) => void {
  let told = false;
  return (paused) => {
    budget.hold(paused);
    if (paused !== told) onEvent({ type: 'paused', paused, by: 'self' });
    told = paused;
  };
}

// SPDX-License-Identifier: MPL-2.0

/** Whether each contact is there, without the moments between two conversations. */
export class Presence {
  readonly #onChange: (id: string, online: boolean) => void;
  /** Of those who are there; with a timer, of those who have just gone. */
  readonly #online = new Map<string, NodeJS.Timeout | undefined>();

  /** @param onChange  told each change, by the id the contact is known by here */
  constructor(onChange: (id: string, online: boolean) => void) {
    this.#onChange = onChange;
  }

  isOnline(id: string): boolean {
    return this.#online.has(id);
  }

  /** A conversation with the contact has begun, or the last one has ended. */
  set(id: string, here: boolean): void {
    const known = this.#online.has(id);
    clearTimeout(this.#online.get(id));
    if (here) {
      this.#online.set(id, undefined);
      if (!known) this.#onChange(id, true);
    } else if (known) {
      this.#online.set(
        id,
        setTimeout(() => this.forget(id), GRACE_MS),
      );
    }
  }

  /** The contact is gone for good, or not one any more. */
  forget(id: string): void {
    clearTimeout(this.#online.get(id));
    if (this.#online.delete(id)) this.#onChange(id, false);
  }

  /** Tells nothing any more. */
  close(): void {
    for (const timer of this.#online.values()) clearTimeout(timer);
    this.#online.clear();
  }
}

/** A contact that restarts, or whose conversation is followed by another, is not shown as gone. */
const GRACE_MS = 1000;

// SPDX-License-Identifier: MPL-2.0

/** The presence of each contact, without the short gaps between two conversations. */
export class Presence {
  readonly #onChange: (id: string, online: boolean) => void;
  /** The online contacts; a timer marks those whose last conversation has just ended. */
  readonly #online = new Map<string, NodeJS.Timeout | undefined>();

  /** @param onChange  called for each change, with the contact's id in this class */
  constructor(onChange: (id: string, online: boolean) => void) {
    this.#onChange = onChange;
  }

  isOnline(id: string): boolean {
    return this.#online.has(id);
  }

  /** Called when a conversation begins, or when the last one ends. */
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

  /** The contact has left for good, or was removed. */
  forget(id: string): void {
    clearTimeout(this.#online.get(id));
    if (this.#online.delete(id)) this.#onChange(id, false);
  }

  /** Stops all reports. */
  close(): void {
    for (const timer of this.#online.values()) clearTimeout(timer);
    this.#online.clear();
  }
}

/** A contact that restarts or switches conversations does not appear offline. */
const GRACE_MS = 1000;

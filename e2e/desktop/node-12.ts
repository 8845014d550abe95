// SPDX-License-Identifier: MPL-2.0

// Parts that main uses and that Node 12.14, the Node of the tests' Electron, lacks. scripts/bundle-desktop.mjs puts
// this file before main for the tests. The program itself does not support that Node.

interface Waiting {
  readonly listener: () => void;
}

class OldAbortSignal {
  aborted = false;
  reason: unknown;
  #listeners: Waiting[] = [];

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_event: 'abort', listener: () => void): void {
    this.#listeners.push({ listener });
  }

  removeEventListener(_event: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((each) => each.listener !== listener);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const { listener } of this.#listeners.splice(0)) listener();
  }
}

class OldAbortController {
  readonly signal = new OldAbortSignal();

  abort(reason: unknown): void {
    this.signal.abort(reason);
  }
}

if (globalThis.AbortController === undefined) Object.assign(globalThis, { AbortController: OldAbortController });
if (Object.hasOwn === undefined) {
  Object.hasOwn = (object, key) => Object.prototype.propertyIsEnumerable.call(object, key);
}

// SPDX-License-Identifier: MPL-2.0
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { Change, Changes } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';

/** Watches one file as ChangeWatch does a folder: a file that replaces it counts as a change. */
export class FileWatch {
  readonly #file: string;
  readonly #name: string;
  readonly #onWake: () => void;
  #watcher: FSWatcher | undefined;
  #changes: Change[] = [];
  #trouble: Error | undefined;
  #there: boolean;
  #closed = false;

  /**
   * @param folder  of the file, absolute
   * @param onWake  news is available; never called after `close`
   */
  constructor(folder: string, name: string, onWake: () => void) {
    this.#file = join(folder, name);
    this.#name = name;
    this.#onWake = onWake;
    this.#there = existsSync(this.#file);
    try {
      this.#watcher = watch(folder, (_, changed) => this.#note(changed)).on('error', (error) => this.#fail(error));
    } catch (reason) {
      this.#fail(reason);
    }
    // The first news is that the file is watched.
    queueMicrotask(() => this.#wake());
  }

  take(): Changes {
    const changes = this.#changes;
    this.#changes = [];
    const trouble = this.#trouble === undefined ? {} : { trouble: this.#trouble };
    return { changes, watching: this.#trouble === undefined, missed: false, ...trouble };
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watcher?.close();
  }

  #note(changed: string | null): void {
    if (changed !== null && changed !== this.#name) return;
    const wasThere = this.#there;
    this.#there = existsSync(this.#file);
    const kind = !this.#there ? 'removed' : wasThere ? 'changed' : 'created';
    this.#changes.push({ path: this.#name, kind });
    this.#wake();
  }

  #fail(reason: unknown): void {
    this.#trouble = KeibiError.from(reason, 'TRANSFER_SOURCE_MISSING');
    this.#wake();
  }

  #wake(): void {
    if (!this.#closed) this.#onWake();
  }
}

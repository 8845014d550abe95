// SPDX-License-Identifier: MPL-2.0
import { assertFunction, assertText } from './arguments.ts';
import { loadBinding } from './binding.ts';

/**
 * The fate of a path: `created` under a free name, or `replaced` by an entry that was moved there or made again after a
 * removal. All but `changed` cover everything below a directory.
 */
export type ChangeKind = 'created' | 'changed' | 'removed' | 'replaced';

export interface Change {
  kind: ChangeKind;
  /** Relative to the folder, names joined by `/`. */
  path: string;
}

/** Changes since the last `take`, each path once. */
export interface Changes {
  changes: Change[];
  /** The whole folder is watched: no change is missed from now on. */
  watching: boolean;
  /** Some changes were lost: anything may have changed. */
  missed: boolean;
  /**
   * Why a part of the folder is not watched: TRANSFER_SOURCE_MISSING, or TRANSFER_LIMIT_EXCEEDED (the system's limit of
   * watches).
   */
  trouble?: Error;
}

interface NativeChangeWatch {
  take(): { kinds: number[]; paths: string[] } & Omit<Changes, 'changes'>;
  close(): Promise<void>;
}

interface ChangeWatchBinding {
  ChangeWatch: new (folder: string, onWake: () => void) => NativeChangeWatch;
}

const KINDS: readonly ChangeKind[] = ['changed', 'replaced', 'changed', 'removed', 'created'];

/** Watches a folder recursively, on its own thread; no symlink is followed. */
export class ChangeWatch {
  readonly #native: NativeChangeWatch;

  /** @param onWake  news is available; called once until it is taken, never after `close` */
  constructor(folder: string, onWake: () => void) {
    assertText('folder', folder);
    assertFunction('onWake', onWake);
    const { ChangeWatch: Native } = loadBinding<ChangeWatchBinding>();
    this.#native = new Native(folder, onWake);
  }

  take(): Changes {
    const { kinds, paths, ...rest } = this.#native.take();
    return { ...rest, changes: paths.map((path, i) => ({ path, kind: KINDS[kinds[i] ?? 0] ?? 'changed' })) };
  }

  /** Ends the thread. Idempotent. */
  close(): Promise<void> {
    return this.#native.close();
  }
}

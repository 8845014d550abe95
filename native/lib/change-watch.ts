// SPDX-License-Identifier: MPL-2.0
import { assertFunction, assertText } from './arguments.ts';
import { loadBinding } from './binding.ts';

/** What has become of a path. Of a directory that was made, moved here or removed it holds for everything below. */
export type ChangeKind = 'made' | 'changed' | 'removed';

export interface Change {
  kind: ChangeKind;
  /** Below the folder, names joined by `/`. */
  path: string;
}

/** What has changed since the last look, each path once. */
export interface Changes {
  changes: Change[];
  /** The folder is watched from top to bottom: nothing is missed from now on. */
  watching: boolean;
  /** More has changed than is told here: everything may have. */
  missed: boolean;
  /** Why a part of the folder is not watched, if so: TRANSFER_SOURCE_MISSING, TRANSFER_LIMIT_EXCEEDED (the system watches no more). */
  trouble?: Error;
}

interface NativeChangeWatch {
  take(): { kinds: number[]; paths: string[] } & Omit<Changes, 'changes'>;
  close(): Promise<void>;
}

interface ChangeWatchBinding {
  ChangeWatch: new (folder: string, onWake: () => void) => NativeChangeWatch;
}

const KINDS: readonly ChangeKind[] = ['changed', 'made', 'changed', 'removed'];

/** Watches a folder with all that is below it, on a thread of its own; no symlink is followed. */
export class ChangeWatch {
  readonly #native: NativeChangeWatch;

  /** @param onWake  there is something to take; called once until it is taken, never after `close` */
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

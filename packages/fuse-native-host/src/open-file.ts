// SPDX-License-Identifier: MPL-2.0

import type { FileVersion, ShareEntry } from '@keibidrop/protocol';
import type { Content, Position } from './contents.ts';
import { Failure } from './failure.ts';
import type { OverlayFile } from './overlay-file.ts';

/** A file that is open, or has unsent changes. Its changes run one after another. */
export class OpenFile {
  path: string;
  /** As it was last known. */
  entry: ShareEntry;
  readonly handles = new Set<Handle>();
  overlay: OverlayFile | undefined;
  /** The content of the overlay's base, while the overlay needs it. */
  base: Content | undefined;
  /** It was unlinked. */
  gone = false;
  /** When the first unsent change was made, and when to retry. */
  since = 0;
  retryAt = 0;
  backoffMs = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, entry: ShareEntry) {
    this.path = path;
    this.entry = entry;
  }

  get unsent(): boolean {
    return this.overlay?.changed === true && !this.gone;
  }

  /** @throws Failure: ETIMEDOUT if its turn does not come in time */
  async run<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    let leave: (value?: unknown) => void = () => {};
    const mine = new Promise((resolve) => {
      leave = resolve;
    });
    this.#last = before.then(() => mine);
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      late = setTimeout(() => reject(new Failure('ETIMEDOUT')), patienceMs);
    });
    try {
      await Promise.race([before, tooLate]);
      clearTimeout(late);
      return await work();
    } finally {
      clearTimeout(late);
      leave();
    }
  }
}

/** An open file of the kernel's. */
export interface Handle {
  file: OpenFile;
  /** The content it reads; replaceable only until bytes of it were seen. */
  content: Content | undefined;
  seen: FileVersion | undefined;
  position: Position;
}

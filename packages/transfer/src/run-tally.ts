// SPDX-License-Identifier: MPL-2.0
import type { ReceiveProgress } from '@keibidrop/native';

/** Counts of one run of the receiver. */
export interface ReceptionCounts {
  files: number;
  bytes: number;
  skipped: number;
  resumedBytes: number;
}

/**
 * Counts a run of the receiver over all its sessions.
 *
 * A resumed session sees files placed by earlier sessions as up to date, and their parts as left from an earlier run. The counts of the
 * run credit both to the run.
 */
export class RunTally {
  #sessions = 0;
  #files = 0;
  #placedBytes = 0;
  #receivedBytes = 0;

  /** Adds a lost session. @param lost  its counts after its job has ended, so that all received data is included */
  add(lost: ReceiveProgress): void {
    this.#sessions++;
    this.#files += lost.files;
    this.#placedBytes += lost.placedBytes;
    this.#receivedBytes += receivedBytesOf(lost);
  }

  /** The counts of the run, given those of its last session. */
  totalWith(last: ReceiveProgress): ReceptionCounts {
    const bytes = this.#placedBytes + last.placedBytes;
    // Chunks of a file that has changed since were received in vain; the result must not become negative.
    const heldBefore = Math.max(0, bytes - this.#receivedBytes - receivedBytesOf(last));
    return {
      files: this.#files + last.files,
      bytes,
      skipped: Math.max(0, last.skipped - this.#files),
      resumedBytes: this.#sessions === 0 ? last.resumedBytes : heldBefore,
    };
  }
}

function receivedBytesOf({ bytes, resumedBytes, skippedBytes }: ReceiveProgress): number {
  return bytes - resumedBytes - skippedBytes;
}

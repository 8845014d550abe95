// SPDX-License-Identifier: MPL-2.0
import type { ReceiveProgress } from '@keibidrop/native';

/** What one run of the receiver brought. */
export interface ReceptionCounts {
  files: number;
  bytes: number;
  skipped: number;
  resumedBytes: number;
}

/**
 * Counts a run of the receiver over all its sessions.
 *
 * A session that goes on finds what earlier ones have placed as files that are up to date, and their parts as parts of an earlier run; in
 * the counts of the run both are what the run has brought.
 */
export class RunTally {
  #sessions = 0;
  #files = 0;
  #placedBytes = 0;
  #receivedBytes = 0;

  /** Adds a session that was lost. @param lost  its counts when its job had ended, so that all that came is kept */
  add(lost: ReceiveProgress): void {
    this.#sessions++;
    this.#files += lost.files;
    this.#placedBytes += lost.placedBytes;
    this.#receivedBytes += receivedBytesOf(lost);
  }

  /** The counts of the run, whose last session has these. */
  totalWith(last: ReceiveProgress): ReceptionCounts {
    const bytes = this.#placedBytes + last.placedBytes;
    // Chunks of a file that has changed since have come for nothing: they are no reason to count less than nothing.
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

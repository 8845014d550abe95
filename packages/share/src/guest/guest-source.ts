// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import type { MountSource, SourceWrites } from '@keibidrop/mount';
import type { RateBudget } from '@keibidrop/native';
import { isLoss } from '@keibidrop/peer';
import {
  type CachedFile,
  KeibiError,
  type ShareEntry,
  type ShareListing,
  type ShareNotice,
  type WantedBlocks,
} from '@keibidrop/protocol';
import type { ShareGuest } from './share-guest.ts';
import type { ShareReads } from './share-reads.ts';

type Options = { signal: AbortSignal };

/** Pause after a list request that exceeded the limit: a sharing peer serves 8 at a time. */
const BUSY_MS = 20;
const isBusy = (reason: unknown) => reason instanceof KeibiError && reason.code === 'PEER_BUSY';

/** The files of a share, for a mount. Requests without a session wait for the next one, as long as the caller does. */
export class GuestSource implements MountSource {
  readonly writes: SourceWrites | undefined;
  readonly #guest: ShareGuest;
  readonly #reads: ShareReads;

  /** @throws MOUNT_UNAVAILABLE if the peer cannot be read in place */
  constructor(guest: ShareGuest, { budget }: { budget?: RateBudget | undefined } = {}) {
    this.#guest = guest;
    this.#reads = guest.reads({ budget });
    this.writes = guest.writes({ budget });
  }

  get name(): string {
    return this.#guest.info.name;
  }

  async *list(path: string, options: Options): AsyncGenerator<ShareListing> {
    for (let begun = false; ; ) {
      try {
        for await (const part of this.#guest.list(path, options)) {
          begun = true;
          yield part;
        }
        return;
      } catch (reason) {
        options.signal.throwIfAborted();
        // The rest of a partial listing would belong to another version of the folder.
        if (begun) throw reason;
        if (isBusy(reason)) await setTimeout(BUSY_MS, undefined, options);
        else if (!isLoss(reason)) throw reason;
      }
    }
  }

  stat(path: string, options: Options): Promise<ShareEntry> {
    return this.#guest.stat(path, options);
  }

  watch(options: Options): AsyncIterable<ShareNotice> {
    return this.#guest.watch({ ...options, withoutOwn: true });
  }

  want(file: CachedFile, blocks: WantedBlocks, options: Options): Promise<{ aheadBlocks: number }> {
    return this.#reads.want(file, blocks, options);
  }

  leaveAhead(file: CachedFile): void {
    this.#reads.leaveAhead(file);
  }

  release(file: CachedFile): void {
    this.#reads.release(file);
  }

  space(options: Options): Promise<{ totalBytes: number; freeBytes: number }> {
    return this.#guest.space(options);
  }

  /** Does nothing: the guest belongs to its owner. */
  async close(): Promise<void> {}
}

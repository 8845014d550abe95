// SPDX-License-Identifier: MPL-2.0
import type { CachedFile, WantedBlocks } from '@keibidrop/protocol';
import { assertInteger, assertText, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { GuestJob, type GuestJobOptions, MOST, type NativeGuestJob, type NativeGuestJobClass } from './guest-job.ts';
import type { LaneEnd } from './send-job.ts';

/** The block size of cached files: a unit of the guest's own, not of PROTOCOL. */
export const CACHE_BLOCK_BYTES = 65536;

/** The news of a ReadJob since the last look. */
export interface ReadNews {
  /** Settled wants, each with an ErrorCode, or '' if all blocks have arrived. */
  settled: { want: number; code: string }[];
  lanesEnded: LaneEnd[];
}

interface NativeReadJob extends NativeGuestJob {
  open(path: string, directory: string, key: string, size: number, mtimeNs: bigint): Promise<number>;
  release(file: number): void;
  leaveAhead(file: number): void;
  want(want: number, file: number, first: number, count: number, ahead: number): boolean;
  cancel(file: number, want: number): void;
  aheadBlocks(): number;
  takeNews(): { settled: number[]; codes: string[]; lanesEnded: LaneEnd[] };
}

interface ReadJobBinding {
  ReadJob: NativeGuestJobClass<NativeReadJob>;
}

/**
 * Reads files of a share in place (PROTOCOL 11.1). Native threads request the wanted blocks and write them from the
 * lanes into cache files; file bytes stay in native code.
 *
 * It outlives sessions: after endSession() pending requests are repeated on the lanes of the next.
 */
export class ReadJob extends GuestJob<NativeReadJob> {
  constructor(options: GuestJobOptions) {
    super(loadBinding<ReadJobBinding>().ReadJob, options);
  }

  /**
   * Opens the cache of a file and resolves with its number; release() closes it.
   *
   * @throws TRANSFER_DESTINATION_UNUSABLE, TRANSFER_DISK_FULL, TRANSFER_LIMIT_EXCEEDED
   */
  async open({ path, directory, key, size, mtimeNs }: CachedFile): Promise<number> {
    assertText('path', path);
    assertText('directory', directory);
    assertText('key', key);
    assertInteger('size', size, 0, Number.MAX_SAFE_INTEGER);
    if (BigInt.asIntN(64, mtimeNs) !== mtimeNs) throw misuse('mtimeNs must fit 64 bits');
    return this.native.open(path, directory, key, size, mtimeNs);
  }

  /** The file was closed: drops its pending requests. */
  release(file: number): void {
    assertInteger('file', file, 0, MOST);
    this.native.release(file);
  }

  /** The reader has jumped: drops prefetched blocks that no want waits for. */
  leaveAhead(file: number): void {
    assertInteger('file', file, 0, MOST);
    this.native.leaveAhead(file);
  }

  /**
   * Requests blocks, and prefetches some after them.
   *
   * @param want  the number under which news reports their arrival, if they are not cached yet
   * @returns     whether they are cached
   * @throws      TRANSFER_SOURCE_CHANGED, TRANSFER_SOURCE_MISSING, TRANSFER_PATH_REFUSED if already known of the file
   */
  want(want: number, file: number, { first, count, ahead }: WantedBlocks): boolean {
    assertInteger('want', want, 0, MOST);
    assertInteger('file', file, 0, MOST);
    assertInteger('first', first, 0, MOST);
    assertInteger('count', count, 0, MOST);
    assertInteger('ahead', ahead, 0, MOST);
    return this.native.want(want, file, first, count, ahead);
  }

  /** Stops news about this want. */
  cancel(file: number, want: number): void {
    assertInteger('file', file, 0, MOST);
    assertInteger('want', want, 0, MOST);
    this.native.cancel(file, want);
  }

  /** How many blocks to prefetch at most: as many as the path carries in two round trips. */
  get aheadBlocks(): number {
    return this.native.aheadBlocks();
  }

  takeNews(): ReadNews {
    const { settled, codes, lanesEnded } = this.native.takeNews();
    return { settled: settled.map((want, i) => ({ want, code: codes[i] as string })), lanesEnded };
  }
}

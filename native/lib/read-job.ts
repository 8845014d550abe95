// SPDX-License-Identifier: MPL-2.0
import { assertInteger, assertText, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { GuestJob, type GuestJobOptions, MOST, type NativeGuestJob, type NativeGuestJobClass } from './guest-job.ts';
import type { LaneEnd } from './send-job.ts';

/** What a cached file comes in: PROTOCOL knows no such unit, it is a guest's own. */
export const CACHE_BLOCK_BYTES = 65536;

/** Which file of a share, which content of it, and where it is cached. */
export interface CachedFile {
  /** Within the share. */
  path: string;
  size: number;
  mtimeNs: bigint;
  /** Absolute; there already. */
  directory: string;
  /** Names the content there: another one has another key. */
  key: string;
}

/** Some blocks of a file, and how many behind them are begun with as well. */
export interface WantedBlocks {
  first: number;
  count: number;
  ahead: number;
}

/** What has happened in a ReadJob since the last look. */
export interface ReadNews {
  /** Wants that are settled, each with an ErrorCode, or '' when all is there. */
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
 * Reads files of a share in place (PROTOCOL 11.1). Native threads ask for what is wanted and carry it from the lanes into cache files; no byte of
 * a file comes here.
 *
 * It outlives sessions: after endSession() what is still owed is asked for on the lanes of the next.
 */
export class ReadJob extends GuestJob<NativeReadJob> {
  constructor(options: GuestJobOptions) {
    super(loadBinding<ReadJobBinding>().ReadJob, options);
  }

  /**
   * Opens the cache of a file; resolves with its number, which release() ends.
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

  /** Nobody reads it any more: what it still waits for is given up. */
  release(file: number): void {
    assertInteger('file', file, 0, MOST);
    this.native.release(file);
  }

  /** Its reader has jumped: of what was asked for ahead nothing comes that no want waits for. */
  leaveAhead(file: number): void {
    assertInteger('file', file, 0, MOST);
    this.native.leaveAhead(file);
  }

  /**
   * Wants blocks, and begins with some behind them.
   *
   * @param want  a number by which news tell that they are there, if they are not yet
   * @returns     whether they are
   * @throws      TRANSFER_SOURCE_CHANGED, TRANSFER_SOURCE_MISSING, TRANSFER_PATH_REFUSED of a file of which that is known
   */
  want(want: number, file: number, { first, count, ahead }: WantedBlocks): boolean {
    assertInteger('want', want, 0, MOST);
    assertInteger('file', file, 0, MOST);
    assertInteger('first', first, 0, MOST);
    assertInteger('count', count, 0, MOST);
    assertInteger('ahead', ahead, 0, MOST);
    return this.native.want(want, file, first, count, ahead);
  }

  /** News tell nothing of this want any more. */
  cancel(file: number, want: number): void {
    assertInteger('file', file, 0, MOST);
    assertInteger('want', want, 0, MOST);
    this.native.cancel(file, want);
  }

  /** How many blocks a reader may have on their way ahead of it: as many as the path carries in two round trips. */
  get aheadBlocks(): number {
    return this.native.aheadBlocks();
  }

  takeNews(): ReadNews {
    const { settled, codes, lanesEnded } = this.native.takeNews();
    return { settled: settled.map((want, i) => ({ want, code: codes[i] as string })), lanesEnded };
  }
}

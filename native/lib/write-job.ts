// SPDX-License-Identifier: MPL-2.0
import { assertInteger } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { GuestJob, type GuestJobOptions, MOST, type NativeGuestJob, type NativeGuestJobClass } from './guest-job.ts';
import { checkedContent, type NativeContent, type PutContent } from './put.ts';
import type { LaneEnd } from './send-job.ts';

/** What has happened in a WriteJob since the last look. */
export interface WriteNews {
  /** Puts of which nothing is under way any more, each with what has become of it: no `error`, and all is written. */
  settled: { put: number; error?: Error }[];
  lanesEnded: LaneEnd[];
}

interface NativeWriteJob extends NativeGuestJob {
  session(): number;
  foldReady(number: number): void;
  begin(put: number, session: number, handle: number, ...content: NativeContent): void;
  cancel(put: number): void;
  takeNews(): WriteNews;
}

interface WriteJobBinding {
  WriteJob: NativeGuestJobClass<NativeWriteJob>;
}

/**
 * Writes files of a share in place (PROTOCOL 11.2). Native threads carry what a put has changed from its draft to the lanes; no byte of a file
 * comes here.
 *
 * A session that ends, ends its puts; lanes of the next may come then.
 */
export class WriteJob extends GuestJob<NativeWriteJob> {
  constructor(options: GuestJobOptions) {
    super(loadBinding<WriteJobBinding>().WriteJob, options);
  }

  /** Names the present session: how many have ended. */
  get session(): number {
    return this.native.session();
  }

  /** So can the peer's readers: every lane's writer moves to this fold before its next frame. */
  foldReady(number: number): void {
    assertInteger('number', number, 1, 255);
    this.native.foldReady(number);
  }

  /**
   * Begins to write, by a handle that the peer has given in this session.
   *
   * @param put  a number by which news tell what has become of it
   * @throws     SESSION_LOST of another session; TRANSFER_SIZE_MISMATCH (ranges are not in order, or there are none);
   *             TRANSFER_DESTINATION_UNUSABLE (the draft is not there)
   */
  begin(put: number, session: number, handle: number, content: PutContent): void {
    assertInteger('put', put, 0, MOST);
    assertInteger('session', session, 0, MOST);
    assertInteger('handle', handle, 0, MOST);
    this.native.begin(put, session, handle, ...checkedContent(content));
  }

  /** Nothing more of it leaves, and news tell nothing of it. */
  cancel(put: number): void {
    assertInteger('put', put, 0, MOST);
    this.native.cancel(put);
  }

  takeNews(): WriteNews {
    return this.native.takeNews();
  }
}
